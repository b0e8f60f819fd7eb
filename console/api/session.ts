/**
 * Who is signed in, and what they may, as the service says. Read by the shell and by pages; changed by signing in and
 * out. An answer 401 to anything else means that the session is over: `isLost` then asks for the password over the
 * page, so that nothing typed is lost.
 */
import { computed, signal } from '@preact/signals';

export type Role = 'owner' | 'admin' | 'supervisor' | 'analyst';

export interface WorkspaceOfUser {
  enterprise: string;
  name: string;
  role: Role;
  hears: boolean;
  scopes: string[];
}

export interface Session {
  user: {
    id: string;
    email: string;
    name: string;
    isOperator: boolean;
    hasPassword: boolean;
    totp: boolean;
    passkeys: number;
  };
  workspaces: WorkspaceOfUser[];
  expiresAt: string;
  /** Where one is signed out of the OpenID provider too; null: nowhere. */
  signOutUrl: string | null;
  serverTime: string;
  version: string;
}

/** Undefined: not asked yet; null: nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);
/** No user exists yet: the first comes by the link of the command line. */
export const isFirstUserMissing = signal(false);
export const isLost = signal(false);
/** Counts what made it doubtful that the person's rights are still those that were read. */
export const doubts = signal(0);
/** Why the OpenID provider has signed nobody in: a code of the service. */
export const refusedBecause = signal<string | null>(null);

/** The slug in the address; set by the shell. */
export const enterprise = signal<string | null>(null);

export const workspace = computed(
  () => session.value?.workspaces.find((one) => one.enterprise === enterprise.value) ?? null,
);

/** Whether the person may what a key with this scope may, in the workspace that is shown. */
export function may(scope: string): boolean {
  return workspace.value?.scopes.includes(scope) ?? false;
}
