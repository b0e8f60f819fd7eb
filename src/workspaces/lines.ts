/**
 * Phone lines of a workspace and the carrier credentials behind them, which are stored sealed and never shown. Used by the
 * command line and the demo. Which settings a carrier needs is listed here, so that a missing one shows before a call does.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';
import { OperatorError } from './operator-error.ts';
import { checkLimit, findWorkspace } from './workspaces.ts';

export interface PhoneLine {
  id: string;
  number: string;
  carrier: string;
  hasCredentials: boolean;
  limits: LineLimits;
  createdAt: Date;
}

export interface LineLimits {
  concurrentCalls: number;
  callsPerSecond: number;
}

/** By carrier, the names that its `CarrierFactory` reads. */
export const CARRIER_CREDENTIALS: Readonly<Record<string, readonly string[]>> = { plivo: ['authId', 'authToken'] };

const E164 = /^\+[1-9]\d{6,14}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const COLUMNS = `id, number, carrier, credentials_sealed IS NOT NULL AS has_credentials, max_concurrent_calls,
  max_calls_per_second, created_at`;

interface Row {
  id: string;
  number: string;
  carrier: string;
  has_credentials: boolean;
  max_concurrent_calls: number;
  max_calls_per_second: number;
  created_at: Date;
}

const toLine = (row: Row): PhoneLine => ({
  id: row.id,
  number: row.number,
  carrier: row.carrier,
  hasCredentials: row.has_credentials,
  limits: { concurrentCalls: row.max_concurrent_calls, callsPerSecond: row.max_calls_per_second },
  createdAt: row.created_at,
});

/** Credentials may follow later (`setLineCredentials`); until then no call can be placed from the line. */
export async function addLine(
  database: Queryable,
  sealer: Sealer,
  args: {
    slug: string;
    number: string;
    carrier: string;
    credentials?: Record<string, string>;
    limits?: Partial<LineLimits>;
  },
): Promise<PhoneLine> {
  if (!E164.test(args.number)) {
    throw new OperatorError('invalid', `'${args.number}' is no number in international form, like +14155550100.`);
  }
  checkCarrier(args.carrier);
  if (args.credentials !== undefined) checkCredentials(args.carrier, args.credentials);
  for (const [name, value] of Object.entries(args.limits ?? {})) checkLimit(name, value);
  const workspace = await findWorkspace(database, args.slug);
  const [same] = await database.query<{ id: string }>(
    'SELECT id FROM phone_lines WHERE workspace_id = $1 AND number = $2 AND carrier = $3',
    [workspace.id, args.number, args.carrier],
  );
  if (same !== undefined) {
    throw new OperatorError(
      'exists',
      `${args.number} at ${args.carrier} is line ${same.id} already. Change its credentials with: parley line credentials`,
    );
  }
  const [row] = await database.query<Row>(
    `INSERT INTO phone_lines (id, workspace_id, number, carrier, credentials_sealed, max_concurrent_calls, max_calls_per_second)
     VALUES ($1, $2, $3, $4, $5, coalesce($6, 10), coalesce($7, 1)) RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      workspace.id,
      args.number,
      args.carrier,
      args.credentials === undefined ? null : sealer.seal(JSON.stringify(args.credentials)),
      args.limits?.concurrentCalls ?? null,
      args.limits?.callsPerSecond ?? null,
    ],
  );
  return toLine(row!);
}

export async function setLineCredentials(
  database: Queryable,
  sealer: Sealer,
  args: { slug: string; lineId: string; credentials: Record<string, string> },
): Promise<PhoneLine> {
  const line = await findLine(database, args);
  checkCredentials(line.carrier, args.credentials);
  const [row] = await database.query<Row>(
    `UPDATE phone_lines SET credentials_sealed = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
    [line.id, sealer.seal(JSON.stringify(args.credentials))],
  );
  return toLine(row!);
}

export async function setLineLimits(
  database: Queryable,
  args: { slug: string; lineId: string; limits: Partial<LineLimits> },
): Promise<PhoneLine> {
  const line = await findLine(database, args);
  for (const [name, value] of Object.entries(args.limits)) checkLimit(name, value);
  const [row] = await database.query<Row>(
    `UPDATE phone_lines SET max_concurrent_calls = coalesce($2, max_concurrent_calls),
       max_calls_per_second = coalesce($3, max_calls_per_second) WHERE id = $1 RETURNING ${COLUMNS}`,
    [line.id, args.limits.concurrentCalls ?? null, args.limits.callsPerSecond ?? null],
  );
  return toLine(row!);
}

export async function listLines(database: Queryable, args: { slug: string }): Promise<PhoneLine[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listLinesOf(database, id);
}

export async function listLinesOf(database: Queryable, workspaceId: string): Promise<PhoneLine[]> {
  const rows = await database.query<Row>(`SELECT ${COLUMNS} FROM phone_lines WHERE workspace_id = $1 ORDER BY id`, [
    workspaceId,
  ]);
  return rows.map(toLine);
}

async function findLine(database: Queryable, args: { slug: string; lineId: string }): Promise<PhoneLine> {
  const { id } = await findWorkspace(database, args.slug);
  const [row] = UUID.test(args.lineId)
    ? await database.query<Row>(`SELECT ${COLUMNS} FROM phone_lines WHERE workspace_id = $1 AND id = $2`, [
        id,
        args.lineId,
      ])
    : [];
  if (row !== undefined) return toLine(row);
  throw new OperatorError(
    'not_found',
    `Workspace '${args.slug}' has no line '${args.lineId}'; see: parley line list ${args.slug}`,
  );
}

function checkCarrier(carrier: string): void {
  if (Object.hasOwn(CARRIER_CREDENTIALS, carrier)) return;
  const known = Object.keys(CARRIER_CREDENTIALS).join(', ');
  throw new OperatorError('invalid', `'${carrier}' is no known carrier; there are: ${known}.`);
}

function checkCredentials(carrier: string, credentials: Record<string, string>): void {
  const needed = CARRIER_CREDENTIALS[carrier] ?? [];
  const missing = needed.filter((name) => (credentials[name] ?? '') === '');
  const unknown = Object.keys(credentials).filter((name) => !needed.includes(name));
  if (missing.length > 0) throw new OperatorError('invalid', `Credentials for ${carrier} lack: ${missing.join(', ')}.`);
  if (unknown.length > 0)
    throw new OperatorError('invalid', `${carrier} has no credentials named ${unknown.join(', ')}.`);
}
