/**
 * How a workspace's web sessions are, as the operator reads and sets it. How many there may be
 * is among the workspace's limits.
 */
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';

export interface WebSettings {
  sessionSeconds: number;
  /** Whether web sessions send call events. */
  webhooks: boolean;
}

const COLUMNS = 'web_session_seconds AS "sessionSeconds", web_webhooks AS webhooks';
const LEAST_SECONDS = 60;
const MOST_SECONDS = 7_200;

/** Changes what is given; without anything it only reads. */
export async function setWebSettings(
  database: Database,
  args: {
    slug: string;
    settings: Partial<WebSettings>;
    by?: ChangedBy;
    expect?: ((current: WebSettings) => void) | undefined;
  },
): Promise<WebSettings> {
  const { id } = await findWorkspace(database, args.slug);
  const { sessionSeconds, webhooks } = args.settings;
  if (sessionSeconds !== undefined && (sessionSeconds < LEAST_SECONDS || sessionSeconds > MOST_SECONDS)) {
    throw new OperatorError(
      'invalid',
      `A session may last ${LEAST_SECONDS} to ${MOST_SECONDS} s, not ${sessionSeconds}.`,
    );
  }
  return database.transaction(async (tx) => {
    const [before] = await tx.query<WebSettings>(`SELECT ${COLUMNS} FROM workspaces WHERE id = $1 FOR UPDATE`, [id]);
    args.expect?.(before!);
    if (sessionSeconds === undefined && webhooks === undefined) return before!;
    const [after] = await tx.query<WebSettings>(
      `UPDATE workspaces SET web_session_seconds = coalesce($2, web_session_seconds), web_webhooks = coalesce($3, web_webhooks)
        WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, sessionSeconds ?? null, webhooks ?? null],
    );
    const by = args.by ?? BY_OPERATOR;
    const target = `workspace:${id}`;
    await recordAudit(tx, { workspaceId: id, by, action: 'workspace.web_changed', target, before, after });
    return after!;
  });
}
