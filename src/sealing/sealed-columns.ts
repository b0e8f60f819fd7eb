/**
 * Every column that holds sealed values, and how a row tells the place to which its value is bound. Rotation goes
 * through this list, and a test holds it against the database: who adds a sealed column adds it here.
 */
import type { Queryable } from '../store/database.ts';
import { type SealedPlace, sealedPlace } from './sealed-places.ts';

export interface SealedColumn {
  table: string;
  column: string;
  /** The primary key with its types, in order. */
  key: Readonly<Record<string, string>>;
  /** SQL for the value as bytes, of the row `t`; null: the row has none. */
  bytes: string;
  /** SQL that makes of the bytes `$bytes` what the column holds. */
  stored: string;
  /** SQL for the workspace of the row `t`, as text. */
  workspace: string;
  placeOf(row: { key: readonly string[]; workspaceId: string }): SealedPlace;
}

type OfRow = Parameters<SealedColumn['placeOf']>[0];

const OWN_WORKSPACE = 't.workspace_id::text';

function bytea(
  named: `${string}.${string}`,
  key: SealedColumn['key'],
  placeOf: SealedColumn['placeOf'],
  workspace = OWN_WORKSPACE,
): SealedColumn {
  const [table = '', column = ''] = named.split('.');
  // A webhook URL that was removed leaves an empty secret behind.
  return { table, column, key, bytes: `nullif(t.${column}, '')`, stored: '$bytes', workspace, placeOf };
}

const ofWebhook = ({ workspaceId }: OfRow): SealedPlace => sealedPlace.webhookSecret(workspaceId);

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  bytea(
    'embed_signing_keys.private_sealed',
    { kid: 'text' },
    ({ key: [kid = ''] }) => sealedPlace.embedSigningKey(kid),
    `''`,
  ),
  bytea('phone_lines.credentials_sealed', { id: 'uuid' }, ({ key: [lineId = ''], workspaceId }) =>
    sealedPlace.lineCredentials(workspaceId, lineId),
  ),
  bytea(
    'past_line_credentials.sealed',
    { line_id: 'uuid', version: 'integer' },
    ({ key: [lineId = ''], workspaceId }) => sealedPlace.lineCredentials(workspaceId, lineId),
    '(SELECT l.workspace_id::text FROM phone_lines l WHERE l.id = t.line_id)',
  ),
  bytea('webhook_endpoints.secret_sealed', { id: 'uuid' }, ofWebhook),
  bytea('webhook_endpoints.previous_secret_sealed', { id: 'uuid' }, ofWebhook),
  bytea(
    'provider_connections.credentials_sealed',
    { workspace_id: 'uuid', name: 'text', version: 'integer' },
    ({ key: [, name = '', version], workspaceId }) =>
      sealedPlace.connectionCredentials({ workspaceId, name, version: Number(version) }),
  ),
  bytea(
    'provider_connections.model_key_sealed',
    { workspace_id: 'uuid', name: 'text', version: 'integer' },
    ({ workspaceId }) => sealedPlace.modelKey(workspaceId),
  ),
  bytea(
    'workspace_secrets.value_sealed',
    { workspace_id: 'uuid', name: 'text' },
    ({ key: [, name = ''], workspaceId }) => sealedPlace.toolSecret(workspaceId, name),
  ),
  bytea('clips.key_sealed', { id: 'uuid' }, ({ key: [clipId = ''], workspaceId }) =>
    sealedPlace.clipKey(workspaceId, clipId),
  ),
  bytea('users.totp_sealed', { id: 'uuid' }, ({ key: [userId = ''] }) => sealedPlace.oneTimePassword(userId), `''`),
  bytea(
    'call_recordings.key_sealed',
    { call_uuid: 'uuid', epoch: 'integer' },
    ({ key: [callUuid = '', epoch], workspaceId }) =>
      sealedPlace.recordingKey({ workspaceId, callUuid, epoch: Number(epoch) }),
  ),
  {
    table: 'idempotency_keys',
    column: 'response_body',
    key: { workspace_id: 'uuid', method_path: 'text', key: 'text' },
    // Answers that show no secret lie there as the JSON that they are.
    bytes: `CASE WHEN t.response_body ~ '^[A-Za-z0-9+/]{38,}=*$' THEN decode(t.response_body, 'base64') END`,
    stored: `translate(encode($bytes, 'base64'), E'\\n', '')`,
    workspace: OWN_WORKSPACE,
    placeOf: ({ key: [, methodPath = '', key = ''], workspaceId }) =>
      sealedPlace.storedAnswer({ workspaceId, methodPath, key }),
  },
];

/** One value of each column that has any. */
export async function sampleOfEach(tx: Queryable): Promise<{ sealed: Buffer; place: SealedPlace }[]> {
  const samples: { sealed: Buffer; place: SealedPlace }[] = [];
  for (const column of SEALED_COLUMNS) {
    const [row] = await tx.query<SealedRow>(
      `SELECT ${rowSql(column)} FROM ${column.table} t WHERE ${column.bytes} IS NOT NULL LIMIT 1`,
    );
    if (row !== undefined) samples.push({ sealed: row.sealed, place: column.placeOf(row) });
  }
  return samples;
}

export interface SealedRow {
  key: string[];
  workspaceId: string;
  sealed: Buffer;
}

/** What `SealedRow` holds, of the row `t`. */
export function rowSql(column: SealedColumn): string {
  return `${keySql(column)} AS key, ${column.workspace} AS "workspaceId", ${column.bytes} AS sealed`;
}

export function keySql({ key }: Pick<SealedColumn, 'key'>): string {
  return `ARRAY[${Object.keys(key)
    .map((name) => `t.${name}::text`)
    .join(', ')}]`;
}
