/**
 * A workspace's secrets for the headers of its tools: stored sealed, never shown again, never logged. Called by the
 * command line, the settings API and the executor, which alone opens them. `TOOL_SIGNING_SECRET` is the one that signs
 * requests of tools, where a workspace wants another than that of its webhooks.
 */
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { createWebhookSecret } from '../webhooks/signing.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';

export const SIGNING_SECRET = 'TOOL_SIGNING_SECRET';
export const MOST_SECRETS = 100;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,55}$/;
const MOST_CHARACTERS = 2_000;

/** Everything about a secret but itself. */
export interface SecretSummary {
  name: string;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = 'name, created_at AS "createdAt", updated_at AS "updatedAt"';

/** Throws when what is there is not what the editor has seen; null: there is none. */
type Expect = ((current: SecretSummary | null) => void) | undefined;

/**
 * Sets or replaces it; holds from the next request on. The value must fit a header: printable
 * ASCII, 1 to 2,000 characters.
 */
export async function setSecret(
  database: Database,
  sealer: Sealer,
  args: { slug: string; name: string; value: string; by?: ChangedBy; expect?: Expect },
): Promise<SecretSummary> {
  const { name, value } = args;
  if (!NAME.test(name)) {
    throw new OperatorError(
      'invalid',
      `'${name}' is no name: a letter or _, then letters, digits, _ or -, 56 at most.`,
    );
  }
  if (value === '' || value.length > MOST_CHARACTERS || !/^[\t\x20-\x7e]+$/.test(value)) {
    throw new OperatorError(
      'invalid',
      `The secret must be 1 to ${MOST_CHARACTERS} printable ASCII characters on one line, because it goes into a header.`,
    );
  }
  if (name === SIGNING_SECRET && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(value)) {
    throw new OperatorError('invalid', `${SIGNING_SECRET} must be whsec_ and then base64; --generate makes one.`);
  }
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    const known = await listSecretsOf(tx, id);
    const before = known.find((one) => one.name === name);
    args.expect?.(before ?? null);
    const isNew = before === undefined;
    if (isNew && known.length >= MOST_SECRETS) {
      throw new OperatorError('refused', `'${args.slug}' has ${MOST_SECRETS} secrets; remove one first.`);
    }
    const [row] = await tx.query<SecretSummary>(
      `INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)
       ON CONFLICT (workspace_id, name) DO UPDATE SET value_sealed = excluded.value_sealed, updated_at = clock_timestamp()
       RETURNING ${COLUMNS}`,
      [id, name, sealer.seal(value, sealedPlace.toolSecret(id, name))],
    );
    await audit(tx, id, args.by, isNew ? 'secret.created' : 'secret.changed', name);
    return row!;
  });
}

/** A new signing secret for tools, shown this once. */
export async function generateSigningSecret(
  database: Database,
  sealer: Sealer,
  args: { slug: string; by?: ChangedBy },
): Promise<SecretSummary & { secret: string }> {
  const secret = createWebhookSecret();
  return { ...(await setSecret(database, sealer, { ...args, name: SIGNING_SECRET, value: secret })), secret };
}

export async function listSecrets(database: Queryable, args: { slug: string }): Promise<SecretSummary[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listSecretsOf(database, id);
}

export async function showSecret(database: Queryable, args: { slug: string; name: string }): Promise<SecretSummary> {
  const found = (await listSecrets(database, args)).find((one) => one.name === args.name);
  if (found === undefined) throw unknownSecret(args);
  return found;
}

export function listSecretsOf(database: Queryable, workspaceId: string): Promise<SecretSummary[]> {
  return database.query<SecretSummary>(
    `SELECT ${COLUMNS} FROM workspace_secrets WHERE workspace_id = $1 ORDER BY name`,
    [workspaceId],
  );
}

/** Tools that use it fail from the next request on, with `missing_secret`. */
export async function removeSecret(
  database: Database,
  args: { slug: string; name: string; by?: ChangedBy; expect?: Expect },
): Promise<void> {
  await database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    args.expect?.((await listSecretsOf(tx, id)).find((one) => one.name === args.name) ?? null);
    const rows = await tx.query('DELETE FROM workspace_secrets WHERE workspace_id = $1 AND name = $2 RETURNING name', [
      id,
      args.name,
    ]);
    if (rows.length === 0) throw unknownSecret(args);
    await audit(tx, id, args.by, 'secret.removed', args.name);
  });
}

function unknownSecret({ slug, name }: { slug: string; name: string }): OperatorError {
  return new OperatorError('not_found', `'${slug}' has no secret '${name}'`, `see: parley secret list ${slug}`);
}

/** Opened, for one request. Those that the workspace does not have are left out. */
export async function openSecrets(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  workspaceId: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await database.query<{ name: string; sealed: Buffer }>(
    'SELECT name, value_sealed AS sealed FROM workspace_secrets WHERE workspace_id = $1 AND name = ANY ($2::text[])',
    [workspaceId, names],
  );
  return new Map(
    rows.map(({ name, sealed }) => [name, sealer.open(sealed, sealedPlace.toolSecret(workspaceId, name))]),
  );
}

/**
 * Newest first: the tools' own, else those of the webhooks. Empty: the workspace has neither, and requests go unsigned.
 */
export async function openSigningSecrets(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  workspaceId: string,
): Promise<string[]> {
  const own = (await openSecrets(database, sealer, workspaceId, [SIGNING_SECRET])).get(SIGNING_SECRET);
  if (own !== undefined) return [own];
  const [row] = await database.query<{ newest: Buffer; previous: Buffer | null }>(
    `SELECT secret_sealed AS newest, CASE WHEN previous_until > now() THEN previous_secret_sealed END AS previous
       FROM webhook_endpoints WHERE workspace_id = $1 AND removed_at IS NULL`,
    [workspaceId],
  );
  if (row === undefined) return [];
  const place = sealedPlace.webhookSecret(workspaceId);
  return [row.newest, row.previous].filter((sealed) => sealed !== null).map((sealed) => sealer.open(sealed, place));
}

/** The name alone: `target` says which. */
async function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy | undefined,
  action: string,
  name: string,
): Promise<void> {
  await recordAudit(tx, { workspaceId, by: by ?? BY_OPERATOR, action, target: `secret:${name}` });
}
