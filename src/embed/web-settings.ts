/** How a workspace's web sessions are, as the operator reads and sets it. How many there may be is among the workspace's limits. */
import type { Queryable } from '../store/database.ts';
import { OperatorError } from '../workspaces/operator-error.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';

export interface WebSettings {
  sessionSeconds: number;
  /** Whether web sessions send call events. */
  webhooks: boolean;
}

const LEAST_SECONDS = 60;
const MOST_SECONDS = 7_200;

/** Changes what is given; without anything it only reads. */
export async function setWebSettings(
  database: Queryable,
  args: { slug: string; settings: Partial<WebSettings> },
): Promise<WebSettings> {
  const { id } = await findWorkspace(database, args.slug);
  const { sessionSeconds, webhooks } = args.settings;
  if (sessionSeconds !== undefined && (sessionSeconds < LEAST_SECONDS || sessionSeconds > MOST_SECONDS)) {
    throw new OperatorError(
      'invalid',
      `A session may last ${LEAST_SECONDS} to ${MOST_SECONDS} s, not ${sessionSeconds}.`,
    );
  }
  const [row] = await database.query<WebSettings>(
    `UPDATE workspaces SET web_session_seconds = coalesce($2, web_session_seconds), web_webhooks = coalesce($3, web_webhooks)
      WHERE id = $1 RETURNING web_session_seconds AS "sessionSeconds", web_webhooks AS webhooks`,
    [id, sessionSeconds ?? null, webhooks ?? null],
  );
  return row!;
}
