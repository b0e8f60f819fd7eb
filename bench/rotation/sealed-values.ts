/**
 * A database full of sealed values, in every column that has any and in both forms, each with a canary in it; and the
 * questions whether all of them open, whether the canary lies readable anywhere, and whether anything still names a
 * key. Used by the bench and by tests.
 */
import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { masterKeyOf } from '../../src/sealing/master-keys.ts';
import { rowSql, SEALED_COLUMNS, type SealedRow } from '../../src/sealing/sealed-columns.ts';
import { type SealedPlace, sealedPlace } from '../../src/sealing/sealed-places.ts';
import { createSealer, sealedHeadOf } from '../../src/sealing/sealer.ts';
import type { Database } from '../../src/store/database.ts';
import { createPermitSigner } from '../../src/suppressions/dial-permit.ts';
import { sealedAsFormerly } from './former-seal.ts';

export interface FillOptions {
  /** How many, over all columns. */
  values: number;
  masterKeyHex: string;
  /** Part of each plain text. */
  canary: string;
  /** Of one workspace. */
  workspaceId: string;
  agentId: string;
  lineId: string;
}

const CHUNK_ROWS = 1_000;

/** Returns how many it made. */
export async function fillSealed(database: Database, options: FillOptions): Promise<number> {
  const { workspaceId, agentId, lineId, canary, masterKeyHex } = options;
  const sealer = createSealer(masterKeyHex);
  let made = 0;
  /** Every second one as a former version sealed it. */
  const sealed = (place: SealedPlace): Buffer => {
    const plain = JSON.stringify({ authToken: `${canary}-${made}` });
    return made++ % 2 === 0 ? sealer.seal(plain, place) : sealedAsFormerly(plain, masterKeyHex);
  };
  const inChunks = async (rows: number, insert: (indexes: number[]) => Promise<unknown>): Promise<void> => {
    for (let from = 0; from < rows; from += CHUNK_ROWS) {
      await insert(Array.from({ length: Math.min(CHUNK_ROWS, rows - from) }, (_none, at) => from + at));
    }
  };
  const few = Math.max(1, Math.min(100, Math.floor(options.values / 40)));
  const many = Math.max(1, Math.floor((options.values - few * 6) / 5));

  await inChunks(many, (indexes) => {
    const names = indexes.map((index) => `S_${index}`);
    return database.query(
      `INSERT INTO workspace_secrets (workspace_id, name, value_sealed) SELECT $1, * FROM unnest($2::text[], $3::bytea[])`,
      [workspaceId, names, names.map((name) => sealed(sealedPlace.toolSecret(workspaceId, name)))],
    );
  });
  await inChunks(many, async (indexes) => {
    const calls = indexes.map(() => uuidv7());
    await database.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status,
         carrier, ended_at, ended_reason)
       SELECT c, $2, $3, 1, $4, '+14155550100', '+14155550101', 'Rotation', 'rotation', 'completed', 'plivo', now(), 'agent_hangup' FROM unnest($1::uuid[]) AS c`,
      [calls, workspaceId, agentId, lineId],
    );
    await database.query(
      `INSERT INTO call_recordings (call_uuid, epoch, workspace_id, state, key_sealed) SELECT c, 1, $1, 'failed', k FROM unnest($2::uuid[], $3::bytea[]) AS v (c, k)`,
      [
        workspaceId,
        calls,
        calls.map((callUuid) => sealed(sealedPlace.recordingKey({ workspaceId, callUuid, epoch: 1 }))),
      ],
    );
    const bodies = calls.map((callUuid) => JSON.stringify({ callUuid }));
    const signer = createPermitSigner(masterKeyHex);
    await database.query(
      `INSERT INTO dial_permits (id, workspace_id, call_uuid, phone, body, signature)
       SELECT c, $1, c, '+14155550100', b, s FROM unnest($2::uuid[], $3::text[], $4::bytea[]) AS v (c, b, s)`,
      [workspaceId, calls, bodies, bodies.map((body) => signer.sign(body))],
    );
  });
  await inChunks(many, (indexes) => {
    const ids = indexes.map(() => uuidv7());
    return database.query(
      `INSERT INTO clips (id, workspace_id, name, text, kind, duration_ms, loudness_lufs, key_sealed, size_bytes, sha256, store, object_key, sealed_bytes)
       SELECT i, $1, i::text, '', 'wav', 1, -20, k, 1, '', 'disk', i::text, 1 FROM unnest($2::uuid[], $3::bytea[]) AS v (i, k)`,
      [workspaceId, ids, ids.map((id) => sealed(sealedPlace.clipKey(workspaceId, id)))],
    );
  });
  await inChunks(many, (indexes) =>
    database.query(
      `INSERT INTO past_line_credentials (line_id, version, sealed) SELECT $1, v, s FROM unnest($2::integer[], $3::bytea[]) AS v (v, s)`,
      [
        lineId,
        indexes.map((index) => 1_000 + index),
        indexes.map(() => sealed(sealedPlace.lineCredentials(workspaceId, lineId))),
      ],
    ),
  );
  await inChunks(many, (indexes) => {
    const methodPath = 'POST /api/developer/phone-numbers';
    const keys = indexes.map((index) => `rotation-${index}`);
    return database.query(
      `INSERT INTO idempotency_keys (workspace_id, method_path, key, body_sha256, state, response_status, response_body, response_headers)
       SELECT $1, $2, k, '', 'done', 201, b, '{}' FROM unnest($3::text[], $4::text[]) AS v (k, b)`,
      [
        workspaceId,
        methodPath,
        keys,
        keys.map((key) => sealed(sealedPlace.storedAnswer({ workspaceId, methodPath, key })).toString('base64')),
      ],
    );
  });
  for (let index = 0; index < few; index++) {
    const other = uuidv7();
    const line = uuidv7();
    const kid = `rotation-${index}`;
    await database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, $2, 'Rotation')`, [
      other,
      `rotation-${index}`,
    ]);
    await database.query(
      `INSERT INTO phone_lines (id, workspace_id, number, carrier, credentials_sealed) VALUES ($1, $2, '+14155550102', 'plivo', $3)`,
      [line, other, sealed(sealedPlace.lineCredentials(other, line))],
    );
    const place = sealedPlace.webhookSecret(other);
    await database.query(
      `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed, previous_secret_sealed) VALUES ($1, $2, 'https://example.com/', $3, $4)`,
      [uuidv7(), other, sealed(place), sealed(place)],
    );
    await database.query(
      `INSERT INTO provider_connections (workspace_id, name, version, provider, base_url, model_key_sealed, credentials_sealed, replaced_at)
       VALUES ($1, 'analysis', 1, 'openai_compatible', 'https://example.com', $2, NULL, now()),
              ($1, 'analysis', 2, 'openai_compatible', 'https://example.com', NULL, $3, NULL)`,
      [
        other,
        sealed(sealedPlace.modelKey(other)),
        sealed(sealedPlace.connectionCredentials({ workspaceId: other, name: 'analysis', version: 2 })),
      ],
    );
    await database.query(
      `INSERT INTO embed_signing_keys (kid, private_sealed, public_pem, created_at) VALUES ($1, $2, '', '2001-01-01')`,
      [kid, sealed(sealedPlace.embedSigningKey(kid))],
    );
  }
  return made;
}

export interface Opened {
  /** Values that open where they lie, and how many of them hold the canary. */
  opened: number;
  canaries: number;
  /** `table.column` of those that do not. */
  refused: string[];
}

export async function openEverything(database: Database, masterKeyHex: string, canary: string): Promise<Opened> {
  const sealer = createSealer(masterKeyHex);
  const found: Opened = { opened: 0, canaries: 0, refused: [] };
  for (const column of SEALED_COLUMNS) {
    const rows = await database.query<SealedRow>(
      `SELECT ${rowSql(column)} FROM ${column.table} t WHERE ${column.bytes} IS NOT NULL`,
    );
    for (const row of rows) {
      try {
        if (sealer.open(row.sealed, column.placeOf(row)).includes(canary)) found.canaries++;
        found.opened++;
      } catch {
        found.refused.push(`${column.table}.${column.column}`);
      }
    }
  }
  return found;
}

/** Rows of any table in which one of these texts stands, as it is, as bytes, or in base64. Answers `table: rows`. */
export async function rowsWith(database: Database, texts: readonly Buffer[]): Promise<string[]> {
  const patterns = texts.flatMap(looksOf).map((look) => `%${look}%`);
  const tables = await database.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${name} t WHERE t::text LIKE ANY ($1::text[])`,
      [patterns],
    );
    if ((row?.count ?? 0) > 0) found.push(`${name}: ${row!.count}`);
  }
  return found;
}

function looksOf(text: Buffer): string[] {
  // In base64 it looks different by where it begins; the ends, which neighbours have a part in, are left out.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), text])
      .toString('base64')
      .slice(Math.ceil((shift * 4) / 3), -4),
  );
  const plain = text.toString('utf8');
  const readable = /^[\x20-\x7e]+$/.test(plain) ? [plain] : [];
  return [...readable, text.toString('hex'), ...base64].map((look) => look.replaceAll(/[\\%_]/g, '\\$&'));
}

/** What every value begins with that this version sealed under the key. */
export function headOf(masterKeyHex: string): Buffer {
  return sealedHeadOf(masterKeyOf(masterKeyHex));
}

export function newCanary(): string {
  return `canary${createHash('sha256').update(randomBytes(16)).digest('hex').slice(0, 24)}`;
}
