/**
 * Phone lines of a workspace and the carrier credentials behind them, which are stored sealed and never shown. Used by
 * the command line, the settings API and the demo. Credentials are held to what the carrier declares, so that a missing
 * one shows before a call does. What is replaced or removed is kept for the calls that were
 * placed with it, and for a day.
 */
import { v7 as uuidv7 } from 'uuid';
import {
  CARRIER_NAMES,
  type CarrierName,
  credentialNames,
  isCarrierName,
  missingCredentials,
} from '../../media/contract/carriers.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import { inBatches } from '../store/batches.ts';
import type { Database, Queryable } from '../store/database.ts';
import { checkLimit, findWorkspace, type LimitCaps, mustBeWithin, readCaps } from './workspaces.ts';

export interface PhoneLine {
  id: string;
  number: string;
  carrier: string;
  hasCredentials: boolean;
  /** Counts how often they were set anew; no answer of the API has it. */
  credentialsVersion: number;
  limits: LineLimits;
  createdAt: Date;
}

export interface LineLimits {
  concurrentCalls: number;
  callsPerSecond: number;
}

const E164 = /^\+[1-9]\d{6,14}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const COLUMNS = `id, number, carrier, credentials_sealed IS NOT NULL AS has_credentials, credentials_version,
  max_concurrent_calls, max_calls_per_second, created_at`;

interface Row {
  id: string;
  number: string;
  carrier: string;
  has_credentials: boolean;
  credentials_version: number;
  max_concurrent_calls: number;
  max_calls_per_second: number;
  created_at: Date;
}

const toLine = (row: Row): PhoneLine => ({
  id: row.id,
  number: row.number,
  carrier: row.carrier,
  hasCredentials: row.has_credentials,
  credentialsVersion: row.credentials_version,
  limits: { concurrentCalls: row.max_concurrent_calls, callsPerSecond: row.max_calls_per_second },
  createdAt: row.created_at,
});

/** Credentials may follow later (`setLineCredentials`); until then no call can be placed from the line. */
export async function addLine(
  database: Database,
  sealer: Sealer,
  args: {
    slug: string;
    number: string;
    carrier: string;
    credentials?: Record<string, string> | undefined;
    limits?: Partial<LineLimits> | undefined;
    /**
     * Asked for by the workspace itself: no limit above what the operator allows it, and no
     * country for its other lines.
     */
    withinCaps?: boolean;
    by?: ChangedBy;
  },
): Promise<PhoneLine> {
  if (!E164.test(args.number)) {
    throw new OperatorError('invalid', `'${args.number}' is no number in international form, like +14155550100.`);
  }
  checkCarrier(args.carrier);
  if (args.credentials !== undefined) checkCredentials(args.carrier, args.credentials);
  for (const [name, value] of Object.entries(args.limits ?? {})) checkLimit(name, value);
  const workspace = await findWorkspace(database, args.slug);
  return database.transaction(async (tx) => {
    // Two at once must not both find none.
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspace.id]);
    const [same] = await tx.query<{ id: string }>(
      'SELECT id FROM phone_lines WHERE workspace_id = $1 AND number = $2 AND carrier = $3 AND deleted_at IS NULL',
      [workspace.id, args.number, args.carrier],
    );
    if (same !== undefined) {
      throw new OperatorError(
        'exists',
        `${args.number} at ${args.carrier} is line ${same.id} already; change its credentials instead.`,
      );
    }
    if (args.withinCaps === true) await mustBeWithinCaps(tx, workspace.id, args.limits ?? {});
    const id = uuidv7();
    const [row] = await tx.query<Row>(
      `INSERT INTO phone_lines (id, workspace_id, number, carrier, credentials_sealed, max_concurrent_calls, max_calls_per_second,
                                opens_country)
       VALUES ($1, $2, $3, $4, $5, coalesce($6, 10), coalesce($7, 1), $8) RETURNING ${COLUMNS}`,
      [
        id,
        workspace.id,
        args.number,
        args.carrier,
        args.credentials === undefined ? null : sealedCredentials(sealer, workspace.id, id, args.credentials),
        args.limits?.concurrentCalls ?? null,
        args.limits?.callsPerSecond ?? null,
        // One that the workspace adds by itself must not open its country to the lines that it has.
        args.withinCaps !== true,
      ],
    );
    const line = toLine(row!);
    await audit(tx, workspace.id, args.by, 'line.added', line.id, null, shown(line));
    return line;
  });
}

export async function setLineCredentials(
  database: Database,
  sealer: Sealer,
  args: {
    slug: string;
    lineId: string;
    credentials: Record<string, string>;
    by?: ChangedBy;
    expect?: ((current: PhoneLine) => void) | undefined;
  },
): Promise<PhoneLine> {
  return database.transaction(async (tx) => {
    const { line, workspaceId } = await lockedLine(tx, args);
    args.expect?.(line);
    checkCredentials(line.carrier, args.credentials);
    await keepCredentials(tx, line.id);
    const [row] = await tx.query<Row>(
      `UPDATE phone_lines SET credentials_sealed = $2, credentials_version = credentials_version + 1
       WHERE id = $1 RETURNING ${COLUMNS}`,
      [line.id, sealedCredentials(sealer, workspaceId, line.id, args.credentials)],
    );
    const changed = toLine(row!);
    await audit(tx, workspaceId, args.by, 'line.credentials_changed', line.id, shown(line), shown(changed));
    return changed;
  });
}

/** No call is placed from it any more and it is in no list; its active calls go on. Its credentials go with the day. */
export async function removeLine(
  database: Database,
  args: {
    slug: string;
    lineId: string;
    by?: ChangedBy;
    expect?: ((current: PhoneLine) => void) | undefined;
  },
): Promise<void> {
  await database.transaction(async (tx) => {
    const { line, workspaceId } = await lockedLine(tx, args);
    args.expect?.(line);
    const used = await tx.query('SELECT 1 AS one FROM calling_policies WHERE default_line_id = $1', [line.id]);
    if (used.length > 0) {
      throw new OperatorError('refused', "It is the workspace's default line for leads; choose another one first.");
    }
    await tx.query('UPDATE agents SET line_id = NULL WHERE line_id = $1', [line.id]);
    await keepCredentials(tx, line.id);
    await tx.query('UPDATE phone_lines SET deleted_at = now(), credentials_sealed = NULL WHERE id = $1', [line.id]);
    await audit(tx, workspaceId, args.by, 'line.removed', line.id, shown(line), null);
  });
}

function sealedCredentials(
  sealer: Sealer,
  workspaceId: string,
  lineId: string,
  credentials: Record<string, string>,
): Buffer {
  return sealer.seal(JSON.stringify(credentials), sealedPlace.lineCredentials(workspaceId, lineId));
}

/** For calls that were placed with them; a call cannot be live for a day. */
async function keepCredentials(tx: Queryable, lineId: string): Promise<void> {
  await tx.query(
    `INSERT INTO past_line_credentials (line_id, version, sealed)
     SELECT id, credentials_version, credentials_sealed FROM phone_lines WHERE id = $1 AND credentials_sealed IS NOT NULL`,
    [lineId],
  );
}

const PURGE_BATCH = 1_000;

export async function purgePastCredentials(database: Queryable, isOver?: () => boolean): Promise<void> {
  const remove = async (limit: number): Promise<number> => {
    const removed = await database.query(
      `DELETE FROM past_line_credentials WHERE (line_id, version) IN (
         SELECT line_id, version FROM past_line_credentials WHERE replaced_at < now() - interval '1 day'
          ORDER BY replaced_at LIMIT $1) RETURNING 1 AS one`,
      [limit],
    );
    return removed.length;
  };
  await inBatches(PURGE_BATCH, remove, isOver);
}

/** Changes what is given; nothing given shows what there is. */
export async function setLineLimits(
  database: Database,
  args: {
    slug: string;
    lineId: string;
    limits: Partial<LineLimits>;
    withinCaps?: boolean;
    by?: ChangedBy;
    expect?: ((current: PhoneLine) => void) | undefined;
  },
): Promise<PhoneLine> {
  for (const [name, value] of Object.entries(args.limits)) checkLimit(name, value);
  return database.transaction(async (tx) => {
    const { line, workspaceId } = await lockedLine(tx, args);
    args.expect?.(line);
    if (args.withinCaps === true) await mustBeWithinCaps(tx, workspaceId, args.limits);
    if (Object.keys(args.limits).length === 0) return line;
    const [row] = await tx.query<Row>(
      `UPDATE phone_lines SET max_concurrent_calls = coalesce($2, max_concurrent_calls),
         max_calls_per_second = coalesce($3, max_calls_per_second) WHERE id = $1 RETURNING ${COLUMNS}`,
      [line.id, args.limits.concurrentCalls ?? null, args.limits.callsPerSecond ?? null],
    );
    const changed = toLine(row!);
    await audit(tx, workspaceId, args.by, 'line.limits_changed', line.id, line.limits, changed.limits);
    return changed;
  });
}

export async function listLines(database: Queryable, args: { slug: string }): Promise<PhoneLine[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listLinesOf(database, id);
}

export async function listLinesOf(database: Queryable, workspaceId: string): Promise<PhoneLine[]> {
  const rows = await database.query<Row>(
    `SELECT ${COLUMNS} FROM phone_lines WHERE workspace_id = $1 AND deleted_at IS NULL ORDER BY id`,
    [workspaceId],
  );
  return rows.map(toLine);
}

export async function readLine(database: Queryable, args: { slug: string; lineId: string }): Promise<PhoneLine> {
  const line = (await listLines(database, args)).find(({ id }) => id === args.lineId.toLowerCase());
  if (line === undefined) throw unknownLine(args);
  return line;
}

async function mustBeWithinCaps(tx: Queryable, workspaceId: string, limits: Partial<LineLimits>): Promise<void> {
  const caps: LimitCaps = await readCaps(tx, workspaceId);
  mustBeWithin(caps, limits);
}

/** Held until the change is written, so that the audit's `before` is what it replaces. */
async function lockedLine(
  tx: Queryable,
  args: { slug: string; lineId: string },
): Promise<{ line: PhoneLine; workspaceId: string }> {
  const { id } = await findWorkspace(tx, args.slug);
  const [row] = UUID.test(args.lineId)
    ? await tx.query<Row>(
        `SELECT ${COLUMNS} FROM phone_lines WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
        [id, args.lineId],
      )
    : [];
  if (row !== undefined) return { line: toLine(row), workspaceId: id };
  throw unknownLine(args);
}

function unknownLine({ slug, lineId }: { slug: string; lineId: string }): OperatorError {
  return new OperatorError('not_found', `Workspace '${slug}' has no line '${lineId}'`, `see: parley line list ${slug}`);
}

/** What the audit keeps of a line. */
const shown = ({ number, carrier, hasCredentials, limits }: PhoneLine): object => ({
  number,
  carrier,
  hasCredentials,
  limits,
});

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  lineId: string,
  before: unknown,
  after: unknown,
): Promise<void> {
  return recordAudit(tx, { workspaceId, by, action, target: `line:${lineId}`, before, after });
}

function checkCarrier(carrier: string): asserts carrier is CarrierName {
  if (isCarrierName(carrier)) return;
  throw new OperatorError('invalid', `'${carrier}' is no known carrier; there are: ${CARRIER_NAMES.join(', ')}.`);
}

function checkCredentials(carrier: string, credentials: Record<string, string>): void {
  checkCarrier(carrier);
  const needed = credentialNames(carrier);
  const missing = missingCredentials(carrier, credentials);
  const unknown = Object.keys(credentials).filter((name) => !needed.includes(name));
  if (missing.length > 0) throw new OperatorError('invalid', `Credentials for ${carrier} lack: ${missing.join(', ')}.`);
  if (unknown.length > 0)
    throw new OperatorError('invalid', `${carrier} has no credentials named ${unknown.join(', ')}.`);
}
