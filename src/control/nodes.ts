/**
 * This node's way to the others: texts between controls, and what of their media processes, events and tokens is asked
 * for by them. Nothing of it is opened while there is no other node. Made by `control.ts` before the parts that ask;
 * what this side answers is told it when those are there.
 */
import { createRemoteMedia } from '../media-link/remote-media.ts';
import { createUnwrittenElsewhere } from '../media-link/unwritten-elsewhere.ts';
import type { HandedToken } from '../monitor/monitor-tokens.ts';
import { createEventRelay } from '../nodes/event-relay.ts';
import { machineAnswers } from '../nodes/machine-answers.ts';
import type { NodeName, OtherRun } from '../nodes/media-runs.ts';
import { createLazyBells } from '../nodes/open-bells.ts';
import type { RunKeeper } from '../nodes/run-keeper.ts';
import { createNodeWire } from '../nodes/wire.ts';
import type { ToolsElsewhere } from '../tools/tool-executor.ts';
import type { Ground } from './ground.ts';

/** A browser waits for it. */
const TOKEN_LIMIT_MS = 500;
/** An agent waits for it, silent. */
const TOOL_LIMIT_MS = 500;
/** Anybody may come with a token that nobody knows. */
const MOST_TOKENS_ASKED = 20;

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes(
  { config, sessions, shared, telling }: Ground,
  around: {
    node: NodeName;
    runs(): Pick<RunKeeper, 'nodeOf' | 'others' | 'ownInCompany'>;
    /** What this node's processes have said is written now. */
    hurry(): void;
  },
) {
  const { name: node } = around.node;
  const othersNow = (): readonly OtherRun[] => around.runs().others();
  const { redisUrl, databaseUrl } = config;
  const bells = createLazyBells({ ...shared, sessions, redisUrl, databaseUrl }, node, (text) => wire.heard(text));
  const wire = createNodeWire({ ...shared, node, bells });
  const remote = createRemoteMedia({
    ...shared,
    wire,
    nodeOf: (runId) => around.runs().nodeOf(runId),
    async answers(other) {
      const address = othersNow().find((run) => run.node === other)?.address ?? null;
      return address === null || machineAnswers(address, other);
    },
  });
  const isInCompany = (): boolean => around.runs().ownInCompany() !== null;
  const relay = createEventRelay({
    ...shared,
    ...{ bus: telling.bus, wire, node, isInCompany, hurry: around.hurry },
    tellsEarly: redisUrl !== null,
  });
  let tokensAsked = 0;

  const otherNodes = (): string[] => [...new Set(othersNow().map((run) => run.node))];

  const unwritten = createUnwrittenElsewhere({ ...shared, wire, remote, otherNodes });

  /** The first that has something to say; null: none. */
  async function askAll<Answer>(kind: string, body: object, limitMs: number): Promise<Answer | null> {
    const asked = otherNodes().map(async (other) => {
      const answer = await wire.ask<Answer>(other, kind, body, limitMs);
      if (answer === null) throw new Error('nothing to say');
      return answer;
    });
    return Promise.any(asked).catch(() => null);
  }

  const tools: ToolsElsewhere = {
    adopt: async (toolCallId, ownerRun) =>
      (await askAll<true>('tool.hand', { toolCallId, ownerRun }, TOOL_LIMIT_MS)) ?? false,
    cancel(toolCallId) {
      for (const other of otherNodes()) wire.tell(other, 'tool.cancel', { toolCallId });
    },
  };

  async function tokenElsewhere(hash: string): Promise<HandedToken | null> {
    if (tokensAsked >= MOST_TOKENS_ASKED) return null;
    tokensAsked++;
    const handed = await askAll<HandedToken>('monitor.token', { hash }, TOKEN_LIMIT_MS);
    tokensAsked--;
    return handed;
  }

  return {
    wire,
    remote,
    unwritten,
    tokenElsewhere,
    tools,
    joined: bells.open,
    /** Their next beat comes now, and hears of ours. */
    lookAtRuns(): void {
      for (const other of otherNodes()) wire.tell(other, 'runs.look', {});
    },
    close(): void {
      relay.close();
      bells.close();
    },
  };
}
