/** What this control does when that of another node asks it: for its own media processes and tokens alone. */
import type { Clock } from '../../media/contract/clock.ts';
import { readOwnCall } from '../calls/call-row.ts';
import type { LastWord } from '../lifecycle/last-word.ts';
import type { LinkServer } from '../media-link/link-server.ts';
import type { MediaMember, MediaPool } from '../media-link/media-pool.ts';
import { answerForMedia } from '../media-link/remote-media.ts';
import { answerHurry } from '../media-link/unwritten-elsewhere.ts';
import type { UnwrittenHere } from '../media-link/unwritten-talk.ts';
import type { Monitors } from '../monitor/monitors.ts';
import type { RunKeeper } from '../nodes/run-keeper.ts';
import type { NodeWire } from '../nodes/wire.ts';
import type { Queryable } from '../store/database.ts';
import type { ToolExecutor } from '../tools/tool-executor.ts';

export function answerForNodes(
  parts: {
    places: { pool: MediaPool };
    work: { tools: ToolExecutor };
    monitors: Monitors;
    unwritten: UnwrittenHere;
    nodes: { wire: Pick<NodeWire, 'on'> };
  },
  here: {
    database: Queryable;
    clock: Clock;
    server: Pick<LinkServer, 'hurry'>;
    runs: Pick<RunKeeper, 'look'>;
    lastWordHere: LastWord;
  },
): void {
  const { pool } = parts.places;
  const { database, clock, server, lastWordHere } = here;
  const member = (runId: string): MediaMember | undefined => pool.members().find((one) => one.runId === runId);
  const isHere = (runId: string): boolean => member(runId) !== undefined;

  answerForMedia(parts.nodes.wire, {
    // Passed on once: were it gone from here too, two nodes would ask each other.
    control: async (runId, callUuid, action) =>
      isHere(runId) ? pool.control({ callUuid, ownerRun: runId }, action) : { done: false, why: 'not_here' },
    // One that is away for a moment gets it when it comes back, as from this control.
    tell: (runId, message) => void member(runId)?.send(message),
    async prepare(runId, callUuid) {
      const call = isHere(runId) ? await readOwnCall(database, callUuid) : undefined;
      if (call !== undefined) await pool.prepare({ ...call, assignedRun: runId });
    },
    lastWord: lastWordHere,
    written: (callUuid) => parts.unwritten.writtenHere(callUuid),
  });
  parts.nodes.wire.on('runs.look', () => void here.runs.look());
  answerHurry(parts.nodes.wire, { clock, hurry: server.hurry });
  type Tool = { toolCallId: string; ownerRun: string | null };
  const { tools } = parts.work;
  parts.nodes.wire.on('tool.hand', ({ toolCallId, ownerRun }: Tool) =>
    tools.handTo(toolCallId, ownerRun) ? true : null,
  );
  parts.nodes.wire.on('tool.cancel', ({ toolCallId }: Tool) => tools.cancelHere(toolCallId));
  parts.nodes.wire.on('monitor.token', ({ hash }: { hash: string }) => parts.monitors.hand(hash));
}
