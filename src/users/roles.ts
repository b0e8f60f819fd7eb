/**
 * The roles of people in a workspace, and what each may. A right is a scope of an API key, or finer than one where
 * people need it: who may steer a call need not be able to delete it. Keys know scopes alone, so nothing here takes
 * anything from them. Pure; used by the console's guard and by whoever shows or changes a membership.
 */
import { SCOPES, type Scope } from '../workspaces/api-keys.ts';

/** Rights that are part of a scope for keys (`calls:write`, `calls:read`), and those that no key has. */
const FINER = [
  'calls:control',
  'calls:delete',
  'calls:listen',
  'recordings:read',
  'webhooks:resend',
  'users:read',
  'users:write',
] as const;

export type Right = Scope | (typeof FINER)[number];

export const RIGHTS: readonly Right[] = [...SCOPES, ...FINER];

/** The one with the most rights first. */
export const ROLES = ['owner', 'admin', 'supervisor', 'analyst'] as const;
export type Role = (typeof ROLES)[number];

const SUPERVISOR: readonly Right[] = [
  'calls:read',
  'calls:write',
  'calls:control',
  'calls:listen',
  'recordings:read',
  'webhooks:resend',
  'leads:read',
  'leads:write',
  'agents:read',
  'users:read',
];
const ANALYST: readonly Right[] = ['calls:read', 'leads:read', 'agents:read'];

/** An owner is an admin who may also name, change and remove owners (`memberships.ts`). */
export function rightsOf(role: Role, hears: boolean): readonly Right[] {
  if (role === 'owner' || role === 'admin') return RIGHTS;
  if (role === 'supervisor') return SUPERVISOR;
  return hears ? [...ANALYST, 'recordings:read'] : ANALYST;
}

/** Numbers of people who were called are not for everybody who counts calls. */
export const seesNumbers = (role: Role): boolean => role !== 'analyst';

/** Those of the rights that a key can have: what a person may give a key that he makes. */
export function scopesAmong(rights: readonly Right[]): readonly Scope[] {
  return SCOPES.filter((scope) => rights.includes(scope));
}
