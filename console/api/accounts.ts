/** Signing in and out, one-time links, and what people change about themselves and their colleagues. */
import { ParleyError } from '../../clients/typescript/src/parley-error.ts';
import { ask, ofWorkspace } from './request.ts';
import { isFirstUserMissing, isLost, type Role, type Session, session } from './session.ts';

export interface Link {
  purpose: 'first_user' | 'invitation' | 'reset';
  email: string | null;
  name: string | null;
  workspace: { enterprise: string; name: string } | null;
  expiresAt: string;
}

export interface Colleague {
  id: string;
  email: string;
  name: string;
  role: Role;
  hears: boolean;
  /** False: the invitation was not taken yet. */
  isActive: boolean;
  lastSeenAt: string | null;
}

export interface Identity {
  id: string;
  issuer: string;
  email: string | null;
  lastUsedAt: string | null;
}

export interface OwnSession {
  id: string;
  createdAt: string;
  lastSeenAt: string;
  ip: string;
  userAgent: string;
  isThis: boolean;
}

/** Asks who is signed in. Whoever is not, is null. */
export async function readSession(): Promise<void> {
  try {
    session.value = await ask<Session>('session');
    isFirstUserMissing.value = false;
    isLost.value = false;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.status !== 401) throw error;
    isFirstUserMissing.value = error.details.some(({ field }) => field === 'setup');
    session.value = null;
  }
}

export async function signIn(given: { email: string; password: string; code?: string }): Promise<void> {
  await ask('session', { method: 'POST', body: given });
  await readSession();
}

export async function signOut(): Promise<void> {
  const elsewhere = session.value?.signOutUrl ?? null;
  await ask('session', { method: 'DELETE' });
  session.value = null;
  if (elsewhere !== null) location.assign(elsewhere);
}

/** Beside a password and passkeys. */
export const readSignInWays = (): Promise<{ openId: { name: string } | null }> => ask('sign-in');

/** The browser goes to the provider, and comes back signed in. */
export async function signInByOpenId(): Promise<void> {
  const { url } = await ask<{ url: string }>('openid', { method: 'POST', body: undefined });
  location.assign(url);
}

/** The token goes in the body: no log of addresses has it. */
export const readLink = (token: string): Promise<Link> => ask('link', { method: 'POST', body: { token } });

export async function takeLink(
  token: string,
  given: { name?: string; email?: string; password: string },
): Promise<void> {
  await ask('link/take', { method: 'POST', body: { token, ...given } });
  await readSession();
}

export const me = {
  change: (given: { name: string }) => ask('me', { method: 'PATCH', body: given }),
  /** `current`: of who has one. */
  setPassword: (given: { current?: string; password: string }) => ask('me/password', { method: 'POST', body: given }),
  removePassword: (password: string) => ask('me/password', { method: 'DELETE', body: { password } }),
  beginTotp: (password: string) =>
    ask<{ uri: string; secret: string }>('me/totp', { method: 'POST', body: password === '' ? {} : { password } }),
  confirmTotp: (code: string) => ask('me/totp/confirm', { method: 'POST', body: { code } }),
  endTotp: (password: string) => ask('me/totp', { method: 'DELETE', body: password === '' ? {} : { password } }),
  identities: () => ask<{ data: Identity[] }>('me/identities'),
  async addIdentity(password: string): Promise<void> {
    const body = password === '' ? {} : { password };
    const { url } = await ask<{ url: string }>('me/identities', { method: 'POST', body });
    location.assign(url);
  },
  removeIdentity: (id: string, password: string) =>
    ask(`me/identities/${encodeURIComponent(id)}`, {
      method: 'DELETE',
      body: password === '' ? {} : { password },
    }),
  sessions: () => ask<{ data: OwnSession[] }>('me/sessions'),
  endSession: (id: string) => ask(`me/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' }),
};

export const users = (enterprise: string) => {
  const at = (path = '') => ofWorkspace(enterprise, `users${path}`);
  const one = (id: string) => at(`/${encodeURIComponent(id)}`);
  return {
    list: () => ask<{ data: Colleague[] }>(at()),
    invite: (given: { email: string; name: string; role: Role; hears: boolean }) =>
      ask<{ user: Colleague; link: string | null }>(at(), { method: 'POST', body: given }),
    change: (id: string, given: { role?: Role; hears?: boolean }) => ask(one(id), { method: 'PATCH', body: given }),
    remove: (id: string) => ask(one(id), { method: 'DELETE' }),
    reset: (id: string) => ask<{ link: string }>(`${one(id)}/reset`, { method: 'POST', body: {} }),
  };
};
