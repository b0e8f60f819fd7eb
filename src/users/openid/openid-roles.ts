/**
 * Roles that a claim of the provider gives and takes, at each sign-in by it. They are apart from those that people
 * gave: what somebody was made by hand the provider neither changes nor takes. The last owner stays.
 */
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { OpenIdSettings } from '../../config/openid-settings.ts';
import type { Queryable } from '../../store/database.ts';
import { endLinks } from '../people.ts';
import { ROLES, type Role } from '../roles.ts';
import type { OpenIdClaims } from './openid-provider.ts';

interface Given {
  userId: string;
  settings: OpenIdSettings;
  claims: OpenIdClaims;
  by: ChangedBy;
}

interface Held {
  workspaceId: string;
  enterprise: string;
  /** Null: the person is not in it. */
  role: Role | null;
  isFromProvider: boolean | null;
}

/** By workspace; of several the one with the most rights. */
export function rolesIn({ roleValues }: OpenIdClaims, { roles }: OpenIdSettings): Map<string, Role> {
  const found = new Map<string, Role>();
  for (const { value, enterprise, role } of roles) {
    if (!roleValues.includes(value)) continue;
    const before = found.get(enterprise);
    if (before === undefined || ROLES.indexOf(role) < ROLES.indexOf(before)) found.set(enterprise, role);
  }
  return found;
}

export async function giveRoles(tx: Queryable, { userId, settings, claims, by }: Given): Promise<void> {
  const named = [...new Set(settings.roles.map(({ enterprise }) => enterprise))];
  if (named.length === 0) return;
  const wanted = rolesIn(claims, settings);
  const held = await tx.query<Held>(
    `SELECT w.id AS "workspaceId", w.slug AS enterprise, m.role, m.from_provider AS "isFromProvider"
     FROM workspaces w LEFT JOIN memberships m ON m.workspace_id = w.id AND m.user_id = $2
     WHERE w.slug = ANY ($1::text[]) ORDER BY w.id FOR UPDATE OF w`,
    [named, userId],
  );
  for (const { workspaceId, enterprise, role, isFromProvider } of held) {
    const next = wanted.get(enterprise) ?? null;
    if (next === role || (role !== null && isFromProvider === false)) continue;
    if (role === 'owner' && (await isOnlyOwner(tx, workspaceId))) continue;
    await setRole(tx, { workspaceId, userId, role: next });
    const action = next === null ? 'user.removed' : role === null ? 'user.added' : 'user.role_changed';
    const [before, after] = [role, next].map((one) => (one === null ? null : { role: one, hears: false }));
    await recordAudit(tx, { workspaceId, by, action, target: `user:${userId}`, before, after });
  }
}

async function setRole(
  tx: Queryable,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role | null },
): Promise<void> {
  if (role === null) {
    await tx.query('DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
    return;
  }
  await tx.query(
    `INSERT INTO memberships AS m (workspace_id, user_id, role, from_provider) VALUES ($1, $2, $3, true)
     ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = $3, version = m.version + 1`,
    [workspaceId, userId, role],
  );
  await endLinks(tx, userId);
}

async function isOnlyOwner(tx: Queryable, workspaceId: string): Promise<boolean> {
  const [row] = await tx.query<{ owners: number }>(
    `SELECT count(*)::int AS owners FROM memberships WHERE workspace_id = $1 AND role = 'owner'`,
    [workspaceId],
  );
  return (row?.owners ?? 0) < 2;
}
