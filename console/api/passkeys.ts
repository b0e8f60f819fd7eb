/**
 * Passkeys: what the service asks goes to the browser, and what that says back. The library that turns one into the
 * other is fetched when the first is needed.
 */
import type {
  PublicKeyCredentialCreationOptionsJSON as NewOptions,
  PublicKeyCredentialRequestOptionsJSON as Options,
} from '@simplewebauthn/browser';
import { readSession } from './accounts.ts';
import { ask } from './request.ts';

export interface Passkey {
  id: string;
  name: string;
  host: string;
  isSynced: boolean;
  createdAt: string;
  lastUsedAt: string | null;
}

const library = () => import('@simplewebauthn/browser');

export const mayHavePasskeys = (): boolean => 'PublicKeyCredential' in window;

/** Whoever was asked by the browser, and said no or nothing. */
export const isDeclined = (error: unknown): boolean => error instanceof Error && error.name === 'NotAllowedError';

/** `beside`: a password that was right. */
export async function signInByPasskey(beside: { email: string; password: string } | null): Promise<void> {
  const optionsJSON = await ask<Options>('session/passkey/options', {
    method: 'POST',
    body: beside === null ? {} : { beside },
  });
  const answer = await (await library()).startAuthentication({ optionsJSON });
  if (beside === null) await ask('session/passkey', { method: 'POST', body: { answer } });
  else await ask('session', { method: 'POST', body: { ...beside, passkey: answer } });
  await readSession();
}

const one = (id: string): string => `me/passkeys/${encodeURIComponent(id)}`;
/** Of who has none, no password. */
const onceMore = (password: string): object => (password === '' ? {} : { password });

export const passkeys = {
  list: () => ask<{ data: Passkey[] }>('me/passkeys'),
  async add(name: string, password: string): Promise<void> {
    const optionsJSON = await ask<NewOptions>('me/passkeys/options', { method: 'POST', body: onceMore(password) });
    const answer = await (await library()).startRegistration({ optionsJSON });
    await ask('me/passkeys', { method: 'POST', body: { name, answer } });
  },
  rename: (id: string, name: string) => ask(one(id), { method: 'PATCH', body: { name } }),
  remove: (id: string, password: string) => ask(one(id), { method: 'DELETE', body: onceMore(password) }),
};
