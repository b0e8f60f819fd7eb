/**
 * The numbers of contract §11 for one line of one workspace, as the operator set them. Kept for a second, as API keys
 * are, so that a change holds within 1 s and a busy line does not read the same row for each call.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';

export interface CallLimitSettings {
  workspaceConcurrent: number;
  workspacePerSecond: number;
  lineConcurrent: number;
  linePerSecond: number;
}

export interface CallScope {
  workspaceId: string;
  lineId: string;
}

export interface SettingsReader {
  /** `known`: somebody has just read them. Throws when the line is not one of the workspace. */
  read(scope: CallScope, known?: CallLimitSettings): Promise<CallLimitSettings>;
}

const MOST_KEPT = 10_000;
/** Of a statement with a workspace `w` and its line `l`. */
export const LIMIT_COLUMNS = `
  w.max_concurrent_calls AS "workspaceConcurrent", w.max_calls_per_second AS "workspacePerSecond",
  l.max_concurrent_calls AS "lineConcurrent", l.max_calls_per_second AS "linePerSecond"`;

export function createSettingsReader(deps: {
  database: Queryable;
  clock: Pick<Clock, 'nowMs'>;
  /** 0: always asks. */
  keepMs: number;
}): SettingsReader {
  const kept = new Map<string, { settings: CallLimitSettings; untilMs: number }>();
  return {
    async read({ workspaceId, lineId }, known) {
      const key = `${workspaceId}:${lineId}`;
      const last = kept.get(key);
      const nowMs = deps.clock.nowMs();
      if (known === undefined && last !== undefined && nowMs < last.untilMs) return last.settings;
      const settings = known ?? (await look(workspaceId, lineId));
      kept.delete(key);
      if (settings === undefined) throw new Error(`Line ${lineId} is not one of workspace ${workspaceId}.`);
      if (deps.keepMs > 0) kept.set(key, { settings, untilMs: nowMs + deps.keepMs });
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
      return settings;
    },
  };

  async function look(workspaceId: string, lineId: string): Promise<CallLimitSettings | undefined> {
    const [row] = await deps.database.query<CallLimitSettings>(
      `SELECT ${LIMIT_COLUMNS} FROM workspaces w JOIN phone_lines l ON l.workspace_id = w.id WHERE w.id = $1 AND l.id = $2`,
      [workspaceId, lineId],
    );
    return row;
  }
}
