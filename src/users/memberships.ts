/**
 * Who may what in a workspace: list, add, change, remove, and a link for a new password. Owners alone touch owners, and
 * the last owner stays. A link lets whoever has it in as the person, so it is made only for somebody who is nowhere
 * else more than where the asking person rules. Used by the console's routes and the command line.
 */
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { makeLink, type NewLink } from './one-time-links.ts';
import { createPerson, endLinks, findPerson, removePerson } from './people.ts';
import { ROLES, type Role } from './roles.ts';
import { auditPerson } from './sign-in.ts';
import { HAS_WAY_IN } from './ways-in.ts';

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  hears: boolean;
  /** False: the invitation was not taken yet. */
  isActive: boolean;
  /** One-time passwords are asked for. */
  totp: boolean;
  passkeys: number;
  /** Last request of any session; null: none in 30 days. */
  lastSeenAt: Date | null;
  createdAt: Date;
}

/** Who asks. Null: the operator at the command line, who may all. */
export type AskingRole = Role | null;

export class LastOwner extends Error {}

export interface MembershipChange {
  workspaceId: string;
  userId: string;
  asking: AskingRole;
  by: ChangedBy;
}

const MEMBER = `u.id, u.email, u.name, m.role, m.hears, ${HAS_WAY_IN} AS "isActive", u.totp_confirmed_at IS NOT NULL AS totp,
  (SELECT count(*)::int FROM user_passkeys k WHERE k.user_id = u.id) AS passkeys,
  (SELECT max(s.seen_at) FROM user_sessions s WHERE s.user_id = u.id) AS "lastSeenAt", m.created_at AS "createdAt"`;

export function listMembers(tx: Queryable, workspaceId: string): Promise<Member[]> {
  return tx.query<Member>(
    `SELECT ${MEMBER} FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 ORDER BY lower(u.name), u.id`,
    [workspaceId],
  );
}

/** Null: nobody of this workspace. */
async function findMember(tx: Queryable, of: { workspaceId: string; userId: string }): Promise<Member | null> {
  const [row] = await tx.query<Member>(
    `SELECT ${MEMBER} FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND m.user_id = $2`,
    [of.workspaceId, of.userId],
  );
  return row ?? null;
}

/**
 * `link`: of somebody who has never come in; others come in as before. `refused` for people of workspaces in which the
 * asking person is not at least as much: nobody has proved that an address is theirs, so whoever was the first to
 * invite one could have made its account, and would be let in here.
 */
export async function addMember(
  database: Database,
  wanted: Omit<MembershipChange, 'userId'> & {
    askingUserId: string | null;
    email: string;
    name: string;
    role: Role;
    hears: boolean;
  },
): Promise<{ member: Member; link: NewLink | null }> {
  const { workspaceId, role, hears, by } = wanted;
  mayTouch(wanted.asking, role);
  return database.transaction(async (tx) => {
    await lockMembers(tx, workspaceId);
    const known = await findPerson(tx, wanted.email);
    if (known !== null && wanted.asking !== null) await mustBeKnownHere(tx, known.id, wanted);
    const person = known ?? (await createPerson(tx, wanted));
    const added = await tx.query(
      `INSERT INTO memberships (workspace_id, user_id, role, hears) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING RETURNING user_id`,
      [workspaceId, person.id, role, hears],
    );
    if (added.length === 0) throw new OperatorError('exists', `'${person.email}' is a user of this workspace already.`);
    await endLinks(tx, person.id);
    await audit(tx, { workspaceId, userId: person.id, by }, 'user.added', null, { role, hears });
    const member = (await findMember(tx, { workspaceId, userId: person.id }))!;
    const isNew = !member.isActive;
    const madeBy = wanted.askingUserId;
    const link = isNew ? await makeLink(tx, { purpose: 'invitation', userId: person.id, workspaceId, madeBy }) : null;
    return { member, link };
  });
}

/** Null: nobody of this workspace. Throws `LastOwner` and `refused`. */
export async function changeMember(
  database: Database,
  change: MembershipChange & { role?: Role | undefined; hears?: boolean | undefined },
): Promise<Member | null> {
  const { workspaceId, userId } = change;
  return database.transaction(async (tx) => {
    await lockMembers(tx, workspaceId);
    const before = await findMember(tx, change);
    if (before === null) return null;
    const { role = before.role, hears = before.hears } = change;
    if (role === before.role && hears === before.hears) return before;
    mayTouch(change.asking, before.role);
    mayTouch(change.asking, role);
    if (before.role === 'owner' && role !== 'owner') await anotherOwnerMustBe(tx, workspaceId);
    await tx.query(
      `UPDATE memberships SET role = $3, hears = $4, from_provider = false, version = version + 1
       WHERE workspace_id = $1 AND user_id = $2`,
      [workspaceId, userId, role, hears],
    );
    if (role === 'owner') await endLinks(tx, userId);
    const was = { role: before.role, hears: before.hears };
    await audit(tx, change, 'user.role_changed', was, { role, hears });
    return { ...before, role, hears };
  });
}

/** Whether there was one. Somebody who is in no workspace any more, and no operator, is gone altogether. */
export async function removeMember(database: Database, change: MembershipChange): Promise<boolean> {
  const { workspaceId, userId } = change;
  return database.transaction(async (tx) => {
    await lockMembers(tx, workspaceId);
    const before = await findMember(tx, change);
    if (before === null) return false;
    mayTouch(change.asking, before.role);
    if (before.role === 'owner') await anotherOwnerMustBe(tx, workspaceId);
    await tx.query('DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
    await audit(tx, change, 'user.removed', { role: before.role, hears: before.hears }, null);
    const [left] = await tx.query<{ stays: boolean }>(
      `SELECT is_operator OR EXISTS (SELECT 1 FROM memberships WHERE user_id = $1) AS stays FROM users WHERE id = $1`,
      [userId],
    );
    if (left?.stays === false) await removePerson(tx, userId);
    return true;
  });
}

/** Out of all workspaces at once. Throws `LastOwner` where one of them would be without an owner. */
export async function removeEverywhere(
  database: Database,
  { userId, by }: { userId: string; by: ChangedBy },
): Promise<void> {
  await database.transaction(async (tx) => {
    const owned = await tx.query<{ workspaceId: string }>(
      `SELECT workspace_id AS "workspaceId" FROM memberships WHERE user_id = $1 AND role = 'owner' ORDER BY workspace_id`,
      [userId],
    );
    for (const { workspaceId } of owned) {
      await lockMembers(tx, workspaceId);
      await anotherOwnerMustBe(tx, workspaceId);
    }
    await auditPerson(tx, userId, by, 'user.removed');
    await removePerson(tx, userId);
  });
}

/**
 * A link with which the person sets a new password. Null: nobody of this workspace. `refused` for operators of the
 * installation and for people of other workspaces in which the asking person is not at least as much.
 */
export async function resetMember(
  database: Database,
  change: MembershipChange & { askingUserId: string | null },
): Promise<{ member: Member; link: NewLink } | null> {
  const { workspaceId, userId, asking, askingUserId } = change;
  return database.transaction(async (tx) => {
    const member = await findMember(tx, change);
    if (member === null) return null;
    mayTouch(asking, member.role);
    if (asking !== null) await mustBeWithin(tx, userId, askingUserId);
    const purpose = member.isActive ? 'reset' : 'invitation';
    const link = await makeLink(tx, { purpose, userId, workspaceId, madeBy: askingUserId });
    await audit(tx, change, 'user.reset', null, { purpose });
    return { member, link };
  });
}

async function mustBeWithin(tx: Queryable, userId: string, askingUserId: string | null): Promise<void> {
  const { isOperator, beyond } = await reachOf(tx, userId, askingUserId);
  if (!isOperator && beyond === 0) return;
  throw new OperatorError(
    'refused',
    'This person is an operator, or a user of other workspaces too; the operator of the service makes the link',
    'see: parley user reset --help',
  );
}

/** Operators join where they like, and let in whom they like. A member of the workspace is told so, further on. */
async function mustBeKnownHere(
  tx: Queryable,
  userId: string,
  { askingUserId, workspaceId }: { askingUserId: string | null; workspaceId: string },
): Promise<void> {
  const { beyond, isAskedByOperator } = await reachOf(tx, userId, askingUserId);
  if (beyond === 0 || isAskedByOperator || (await findMember(tx, { workspaceId, userId })) !== null) return;
  throw new OperatorError(
    'refused',
    'This address is that of a user of other workspaces, of whom nothing is known here; the operator of the service lets them in',
    'see: parley user create --help',
  );
}

/** `beyond`: workspaces of the person in which the asking one is less. */
async function reachOf(
  tx: Queryable,
  userId: string,
  askingUserId: string | null,
): Promise<{ isOperator: boolean; isAskedByOperator: boolean; beyond: number }> {
  const [row] = await tx.query<{ isOperator: boolean; isAskedByOperator: boolean; beyond: number }>(
    `SELECT u.is_operator AS "isOperator",
       EXISTS (SELECT 1 FROM users o WHERE o.id = $2 AND o.is_operator) AS "isAskedByOperator", (
       SELECT count(*)::int FROM memberships m
       LEFT JOIN memberships a ON a.workspace_id = m.workspace_id AND a.user_id = $2
       WHERE m.user_id = u.id AND NOT coalesce(a.role = 'owner' OR (a.role = 'admin' AND m.role <> 'owner'), false)
     ) AS beyond FROM users u WHERE u.id = $1`,
    [userId, askingUserId],
  );
  return row!;
}

/** Makes somebody an owner: who made the workspace, or an operator of the installation. Fine twice. */
export async function makeOwner(
  tx: Queryable,
  change: { workspaceId: string; userId: string; by: ChangedBy },
): Promise<void> {
  const rows = await tx.query(
    `INSERT INTO memberships AS m (workspace_id, user_id, role, hears) VALUES ($1, $2, 'owner', true)
     ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = 'owner', hears = true, from_provider = false,
       version = m.version + 1
       WHERE m.role <> 'owner' RETURNING user_id`,
    [change.workspaceId, change.userId],
  );
  if (rows.length === 0) return;
  await endLinks(tx, change.userId);
  await audit(tx, change, 'user.added', null, { role: 'owner', hears: true });
}

function mayTouch(asking: AskingRole, role: Role): void {
  if (asking === null || asking === 'owner' || (asking === 'admin' && role !== 'owner')) return;
  throw new OperatorError('refused', 'Only an owner names, changes and removes owners.');
}

async function anotherOwnerMustBe(tx: Queryable, workspaceId: string): Promise<void> {
  const [row] = await tx.query<{ owners: number }>(
    `SELECT count(*)::int AS owners FROM memberships WHERE workspace_id = $1 AND role = 'owner'`,
    [workspaceId],
  );
  if ((row?.owners ?? 0) < 2) throw new LastOwner('the last owner of a workspace stays');
}

/** Two owners at once must not remove each other. */
async function lockMembers(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspaceId]);
}

/** Throws `invalid`, naming the roles that there are. */
export function roleOf(text: string): Role {
  const found = ROLES.find((role) => role === text);
  if (found !== undefined) return found;
  throw new OperatorError('invalid', `'${text}' is no role; there are: ${ROLES.join(', ')}.`);
}

function audit(
  tx: Queryable,
  { workspaceId, userId, by }: { workspaceId: string; userId: string; by: ChangedBy },
  action: string,
  before: unknown,
  after: unknown,
): Promise<void> {
  return recordAudit(tx, { workspaceId, by, action, target: `user:${userId}`, before, after });
}
