/**
 * Links that are used once, within a day: the first user's, an invitation, a new password. Only the SHA-256 of a token
 * is stored. A new one of a person ends the former, and one that a person made ends where that one may make it no more.
 * The token stands behind the `#` of the address and travels in a body, so that no log of anybody's has it.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { checkPassword, type Hashing } from './password.ts';
import { createPerson, endLinks, hasAnybody, renamePerson, setPassword } from './people.ts';
import { isToken, revokeSessions, secretToken, tokenHash } from './sessions.ts';
import { auditPerson } from './sign-in.ts';
import { HAS_SECOND_FACTOR } from './ways-in.ts';

export type LinkPurpose = 'first_user' | 'invitation' | 'reset';

/** `token` is returned this once. */
export interface NewLink {
  token: string;
  expiresAt: Date;
}

export interface LinkView {
  purpose: LinkPurpose;
  /** Null: who takes it says. */
  email: string | null;
  name: string | null;
  workspace: { enterprise: string; name: string } | null;
  expiresAt: Date;
}

interface LinkRow extends Omit<LinkView, 'workspace'> {
  id: string;
  userId: string | null;
  secondFactor: boolean;
  enterprise: string | null;
  workspaceName: string | null;
}

/** Else two would be the first. */
const FIRST_USER_LOCK = 'parley first user';

/** What a person opens. `publicUrl` has no slash at its end. */
export const linkAddress = (publicUrl: string, token: string): string => `${publicUrl}/console/#/link/${token}`;

/** Null: there are people already, who invite others. */
export async function makeFirstUserLink(database: Queryable): Promise<NewLink | null> {
  if (await hasAnybody(database)) return null;
  return insertLink(database, { purpose: 'first_user', userId: null, workspaceId: null });
}

/** Ends former ones of the person. `madeBy`: null where the operator makes it, at the command line. */
export async function makeLink(
  tx: Queryable,
  link: { purpose: 'invitation' | 'reset'; userId: string; workspaceId: string | null; madeBy: string | null },
): Promise<NewLink> {
  await endLinks(tx, link.userId);
  return insertLink(tx, link);
}

async function insertLink(
  tx: Queryable,
  link: { purpose: LinkPurpose; userId: string | null; workspaceId: string | null; madeBy?: string | null },
): Promise<NewLink> {
  const token = secretToken();
  const { purpose, userId, workspaceId, madeBy = null } = link;
  const [row] = await tx.query<{ expiresAt: Date }>(
    `INSERT INTO user_links (id, token_sha256, purpose, user_id, workspace_id, made_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + interval '24 hours') RETURNING expires_at AS "expiresAt"`,
    [uuidv7(), tokenHash(token), purpose, userId, workspaceId, madeBy],
  );
  return { token, expiresAt: row!.expiresAt };
}

/** SQL, of `l`: who made it may make it still. Of an owner an owner does. */
const MAKER_MAY = `(l.made_by IS NULL OR EXISTS (
    SELECT 1 FROM memberships maker JOIN memberships m ON m.workspace_id = maker.workspace_id AND m.user_id = l.user_id
    WHERE maker.user_id = l.made_by AND maker.workspace_id = l.workspace_id
      AND (maker.role = 'owner' OR (maker.role = 'admin' AND m.role <> 'owner'))))`;

/** Null: there is none, or it was used, or its time is over. */
export async function readLink(database: Queryable, token: string): Promise<LinkView | null> {
  const row = await usableLink(database, token);
  if (row === null) return null;
  const { purpose, email, name, enterprise, workspaceName, expiresAt } = row;
  const workspace = enterprise === null ? null : { enterprise, name: workspaceName ?? enterprise };
  return { purpose, email, name, workspace, expiresAt };
}

async function usableLink(tx: Queryable, token: string, lock = ''): Promise<LinkRow | null> {
  if (!isToken(token)) return null;
  const [row] = await tx.query<LinkRow>(
    `SELECT l.id, l.purpose, l.user_id AS "userId", u.email, u.name, ${HAS_SECOND_FACTOR} AS "secondFactor", w.slug AS enterprise, w.name AS "workspaceName",
            l.expires_at AS "expiresAt"
     FROM user_links l LEFT JOIN users u ON u.id = l.user_id LEFT JOIN workspaces w ON w.id = l.workspace_id
     WHERE l.token_sha256 = $1 AND l.used_at IS NULL AND l.expires_at > now() AND u.removed_at IS NULL AND ${MAKER_MAY}
       AND (l.purpose <> 'first_user' OR NOT EXISTS (SELECT 1 FROM users WHERE removed_at IS NULL)) ${lock}`,
    [tokenHash(token)],
  );
  return row ?? null;
}

/**
 * Sets the password of the link's person, who is made here where it is the first. `secondFactor`: something is asked
 * for beside the password, so the link alone signs nobody in. Null: there is no such link. Throws `invalid` (password,
 * e-mail, name) and `exists`, and then the link stays as it is.
 */
export async function takeLink(
  deps: { database: Database; hashing: Hashing },
  asked: { token: string; password: string; email?: string | undefined; name?: string | undefined; by: LinkTaker },
): Promise<{ userId: string; secondFactor: boolean } | null> {
  const { database, hashing } = deps;
  checkPassword(asked.password);
  // Work for those alone who have a link.
  if ((await usableLink(database, asked.token)) === null) return null;
  const hash = await hashing.hash(asked.password);
  return database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [FIRST_USER_LOCK]);
    const link = await usableLink(tx, asked.token, 'FOR UPDATE OF l');
    if (link === null) return null;
    const userId = link.userId ?? (await makeFirstUser(tx, asked));
    if (link.purpose === 'invitation' && asked.name !== undefined) await renamePerson(tx, userId, asked.name);
    await setPassword(tx, userId, hash);
    await tx.query('UPDATE user_links SET used_at = now() WHERE id = $1', [link.id]);
    await revokeSessions(tx, userId);
    const by = { ...asked.by, actor: `user:${userId}` as const };
    await auditPerson(tx, userId, by, 'user.link_taken', { purpose: link.purpose });
    return { userId, secondFactor: link.secondFactor };
  });
}

export type LinkTaker = Omit<ChangedBy, 'actor'>;

/** The operator of the installation, and owner of every workspace that is there. */
async function makeFirstUser(
  tx: Queryable,
  { email, name }: { email?: string | undefined; name?: string | undefined },
): Promise<string> {
  if (email === undefined) throw new OperatorError('invalid', 'The first user needs an `email`.');
  if (name === undefined) throw new OperatorError('invalid', 'The first user needs a `name`.');
  const { id } = await createPerson(tx, { email, name });
  await tx.query('UPDATE users SET is_operator = true WHERE id = $1', [id]);
  await tx.query(
    `INSERT INTO memberships (workspace_id, user_id, role, hears) SELECT id, $1, 'owner', true FROM workspaces`,
    [id],
  );
  return id;
}
