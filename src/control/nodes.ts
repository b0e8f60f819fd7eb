/**
 * This node's way to the others: texts between controls, and what of their media processes, events and tokens is asked
 * for by them. Nothing of it is opened while there is no other node. Made by `control.ts` before the parts that ask;
 * what this side answers is told it when those are there.
 */
import { createRemoteMedia } from '../media-link/remote-media.ts';
import type { HandedToken } from '../monitor/monitor-tokens.ts';
import { createEventRelay } from '../nodes/event-relay.ts';
import type { NodeName } from '../nodes/media-runs.ts';
import { createLazyBells } from '../nodes/open-bells.ts';
import type { RunKeeper } from '../nodes/run-keeper.ts';
import { createNodeWire } from '../nodes/wire.ts';
import type { Ground } from './ground.ts';

/** A browser waits for it. */
const TOKEN_LIMIT_MS = 500;
/** Anybody may come with a token that nobody knows. */
const MOST_TOKENS_ASKED = 20;

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes(
  { config, sessions, shared, telling }: Ground,
  around: { node: NodeName; runs(): Pick<RunKeeper, 'nodeOf' | 'others' | 'ownInCompany'> },
) {
  const { name: node } = around.node;
  const { redisUrl, databaseUrl } = config;
  const bells = createLazyBells({ ...shared, sessions, redisUrl, databaseUrl }, node, (text) => wire.heard(text));
  const wire = createNodeWire({ ...shared, node, bells });
  const remote = createRemoteMedia({ ...shared, wire, nodeOf: (runId) => around.runs().nodeOf(runId) });
  const isInCompany = (): boolean => around.runs().ownInCompany() !== null;
  const relay = createEventRelay({ ...shared, bus: telling.bus, wire, node, isInCompany });
  let tokensAsked = 0;

  async function tokenElsewhere(hash: string): Promise<HandedToken | null> {
    const others = [
      ...new Set(
        around
          .runs()
          .others()
          .map((run) => run.node),
      ),
    ];
    if (others.length === 0 || tokensAsked >= MOST_TOKENS_ASKED) return null;
    tokensAsked++;
    const asked = others.map((other) => wire.ask<HandedToken>(other, 'monitor.token', { hash }, TOKEN_LIMIT_MS));
    const answers = await Promise.all(asked);
    tokensAsked--;
    return answers.find((answer) => answer !== null) ?? null;
  }

  return {
    wire,
    remote,
    tokenElsewhere,
    joined: bells.open,
    close(): void {
      relay.close();
      bells.close();
    },
  };
}
