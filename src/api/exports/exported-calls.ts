/**
 * Entries of the call log as a file has them: what whoever asked for it may see, and no address that opens sound
 * without a key, because files are passed on. For `src/exports/export-runner.ts`; given to it by control.
 */
import type { ShownCall } from '../../exports/call-lines.ts';
import type { ExportMasking } from '../../exports/export-store.ts';
import type { RecordingLinks } from '../../recordings/recording-links.ts';
import type { Database } from '../../store/database.ts';
import { readCallViews } from '../calls/call-view.ts';
import { maskedValue } from '../masking.ts';

export async function exportedCalls(
  deps: { database: Database; links: RecordingLinks },
  workspaceId: string,
  callUuids: readonly string[],
  masking: ExportMasking,
): Promise<readonly ShownCall[]> {
  const views = await withAgentNames(
    deps.database,
    workspaceId,
    (await readCallViews(deps, workspaceId, callUuids)).map(withoutAddresses),
  );
  if (masking === null) return views;
  return views.map((view) => maskedValue(JSON.parse(JSON.stringify(view)), masking) as ShownCall);
}

/** As the agents are called now, those that were deleted too: whoever reads a file cannot look an id up. */
async function withAgentNames(
  database: Database,
  workspaceId: string,
  calls: readonly ShownCall[],
): Promise<readonly ShownCall[]> {
  const agents = await database.query<{ id: string; name: string }>(
    'SELECT id, name FROM agents WHERE workspace_id = $1 AND id = ANY ($2::uuid[])',
    [workspaceId, [...new Set(calls.map(({ agentId }) => agentId))]],
  );
  const named = new Map(agents.map(({ id, name }) => [id, name]));
  return calls.map((call) => ({ ...call, agentName: named.get(call['agentId'] as string) ?? null }));
}

function withoutAddresses(view: Readonly<Record<string, unknown>>): ShownCall {
  const {
    url: _url,
    urlExpiresAt: _expires,
    parts: _parts,
    ...recording
  } = view['recording'] as object & {
    url: unknown;
    urlExpiresAt: unknown;
    parts: unknown;
  };
  return { ...view, recording };
}
