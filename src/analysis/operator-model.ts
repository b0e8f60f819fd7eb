/**
 * The chat endpoint that reads a workspace's calls: set, shown, removed, tried. Used by the command line and the settings API. The key is
 * stored sealed and never shown; an address is refused when it leads to where nothing would be sent.
 */

import { type AddressCheck, problemOfTarget } from '../../media/net/target-check.ts';
import { parseTargetUrl } from '../../media/net/target-url.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { ChatDeps } from './chat-endpoint.ts';
import { readChatEndpoint } from './model-endpoint.ts';
import { type ModelTrial, tryModel } from './try-model.ts';

export interface ModelEndpoint {
  /** Without `/chat/completions`, like `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  hasKey: boolean;
  updatedAt: Date;
}

const LONGEST_MODEL = 120;
const LONGEST_KEY = 4_096;
const COLUMNS = `base_url AS "baseUrl", model, key_sealed IS NOT NULL AS "hasKey", updated_at AS "updatedAt"`;

/** Throws when what is there is not what the editor has seen; null: there is none. */
type Expect = ((current: ModelEndpoint | null) => void) | undefined;

/** `apiKey` absent: the one that is stored stays, if the address does; null: the server wants none. */
export async function setModelEndpoint(
  database: Database,
  sealer: Pick<Sealer, 'seal'>,
  args: {
    slug: string;
    baseUrl: string;
    model: string;
    apiKey?: string | null;
    by?: ChangedBy;
    check?: AddressCheck;
    expect?: Expect;
  },
): Promise<ModelEndpoint> {
  const baseUrl = await checkedBase(args.baseUrl, args.check);
  const model = args.model.trim();
  if (model === '' || model.length > LONGEST_MODEL || /\p{Cc}/u.test(model)) {
    throw new OperatorError(
      'invalid',
      `The model must be named in 1 to ${LONGEST_MODEL} characters, as its server names it.`,
    );
  }
  const { apiKey } = args;
  // A header cannot hold anything else.
  if (typeof apiKey === 'string' && (apiKey === '' || apiKey.length > LONGEST_KEY || !/^[\x21-\x7e]+$/.test(apiKey))) {
    throw new OperatorError('invalid', 'The API key must be printable ASCII without blanks.');
  }
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    const before = await readModelEndpoint(tx, id);
    args.expect?.(before);
    const keeps = apiKey === undefined && before?.baseUrl === baseUrl;
    const sealed = typeof apiKey === 'string' ? sealer.seal(apiKey, sealedPlace.modelKey(id)) : null;
    const [row] = await tx.query<ModelEndpoint>(
      `INSERT INTO model_endpoints AS m (workspace_id, base_url, model, key_sealed, updated_at)
       VALUES ($1, $2, $3, $4, clock_timestamp())
       ON CONFLICT (workspace_id) DO UPDATE SET base_url = excluded.base_url, model = excluded.model,
         key_sealed = CASE WHEN $5 THEN m.key_sealed ELSE excluded.key_sealed END, updated_at = excluded.updated_at
       RETURNING ${COLUMNS}`,
      [id, baseUrl, model, sealed, keeps],
    );
    const after = row!;
    await audit(tx, { workspaceId: id, by: args.by, action: 'model.set', before, after });
    return after;
  });
}

/** Null when the workspace has none: the local heuristic reads its calls. */
export async function readModelEndpoint(database: Queryable, workspaceId: string): Promise<ModelEndpoint | null> {
  const rows = await database.query<ModelEndpoint>(`SELECT ${COLUMNS} FROM model_endpoints WHERE workspace_id = $1`, [
    workspaceId,
  ]);
  return rows[0] ?? null;
}

export async function showModelEndpoint(database: Queryable, args: { slug: string }): Promise<ModelEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readModelEndpoint(database, id);
  if (endpoint !== null) return endpoint;
  throw notSet(args.slug);
}

/** From now on the local heuristic reads the calls. */
export async function removeModelEndpoint(
  database: Database,
  args: { slug: string; by?: ChangedBy; expect?: Expect },
): Promise<ModelEndpoint> {
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    args.expect?.(await readModelEndpoint(tx, id));
    const [row] = await tx.query<ModelEndpoint>(
      `DELETE FROM model_endpoints WHERE workspace_id = $1 RETURNING ${COLUMNS}`,
      [id],
    );
    if (row === undefined) throw notSet(args.slug);
    await audit(tx, { workspaceId: id, by: args.by, action: 'model.removed', before: row, after: null });
    return row;
  });
}

/** Asks the stored model about a short made-up call, once. */
export async function testModelEndpoint(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  deps: ChatDeps,
  args: { slug: string },
): Promise<ModelTrial> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readChatEndpoint(database, sealer, id);
  if (endpoint === null) throw notSet(args.slug);
  return tryModel(deps, endpoint);
}

async function checkedBase(given: string, check: AddressCheck | undefined): Promise<string> {
  const text = given
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/chat\/completions$/, '');
  const target = parseTargetUrl(text, null);
  const problem = target.ok ? (check === undefined ? null : await problemOfTarget(text, check)) : target.problem;
  if (problem !== null) throw new OperatorError('invalid', `The model's URL ${problem}.`);
  if (target.ok && (target.url.search !== '' || target.url.hash !== '')) {
    throw new OperatorError(
      'invalid',
      "The model's URL must not have a query or a fragment; write it like https://api.openai.com/v1.",
    );
  }
  return text;
}

function notSet(slug: string): OperatorError {
  return new OperatorError(
    'not_found',
    `Workspace '${slug}' has no model, so the local heuristic reads its calls`,
    `set one with: parley model set ${slug} --url URL --model NAME`,
  );
}

interface Change {
  workspaceId: string;
  by: ChangedBy | undefined;
  action: string;
  before: ModelEndpoint | null;
  after: ModelEndpoint | null;
}

function audit(tx: Queryable, { workspaceId, by = BY_OPERATOR, action, before, after }: Change): Promise<void> {
  const shown = (endpoint: ModelEndpoint | null): object | null =>
    endpoint === null ? null : { baseUrl: endpoint.baseUrl, model: endpoint.model, hasKey: endpoint.hasKey };
  return recordAudit(tx, { workspaceId, by, action, target: 'model', before: shown(before), after: shown(after) });
}
