/**
 * Questions and words between the controls of nodes, over `bells.ts`. A question is answered once, or not in time: then
 * nobody knows whether what it asked for was done, and it is not asked again. A word is told and forgotten. Who asks
 * himself answers himself. Made by `src/control/nodes.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Bells } from './bells.ts';

/** What a node does when it is asked or told something of one kind. */
export type Handler = (body: never) => Promise<unknown> | unknown;

export interface NodeWire {
  /** Null: no answer within `limitMs`, or whoever was asked could not. Never rejects. */
  ask<Answer>(node: string, kind: string, body: unknown, limitMs: number): Promise<Answer | null>;
  /** Never rejects; may be lost. */
  tell(node: string, kind: string, body: unknown): void;
  /** What this node does when another asks or tells it; what it returns is the answer. One a kind. */
  on(kind: string, handler: Handler): void;
  heard(text: string): void;
}

type Envelope =
  | { id: string | null; from: string; kind: string; body: unknown }
  | { answers: string; body: unknown; failed?: true };

export function createNodeWire(deps: {
  node: string;
  bells: Pick<Bells, 'send'>;
  clock: Pick<Clock, 'after'>;
  log: Logger;
}): NodeWire {
  const { node, bells, clock, log } = deps;
  const handlers = new Map<string, Handler>();
  const asked = new Map<string, (answer: unknown) => void>();

  async function send(to: string, envelope: Envelope): Promise<void> {
    const text = JSON.stringify(envelope);
    if (to === node) heard(text);
    else await bells.send(to, text);
  }

  async function answer({ id, from, kind, body }: Extract<Envelope, { from: string }>): Promise<void> {
    const handler = handlers.get(kind);
    // Of a version that knows more than this one.
    if (handler === undefined) return;
    try {
      const said = await handler(body as never);
      if (id !== null) await send(from, { answers: id, body: said ?? null });
    } catch (error) {
      log.warn({ from, kind, err: error }, 'what another node asked for failed');
      if (id !== null) await send(from, { answers: id, body: null, failed: true });
    }
  }

  function heard(text: string): void {
    const envelope = envelopeIn(text);
    if (envelope === null) {
      log.warn('another node spoke no sense');
      return;
    }
    if ('answers' in envelope) asked.get(envelope.answers)?.(envelope.failed === true ? null : envelope.body);
    else answer(envelope).catch((error: unknown) => log.debug({ err: error }, 'an answer to another node was lost'));
  }

  return {
    ask<Answer>(to: string, kind: string, body: unknown, limitMs: number): Promise<Answer | null> {
      const id = randomUUID();
      return new Promise((resolve) => {
        const cancel = clock.after(limitMs, () => settle(null));
        const settle = (said: unknown): void => {
          cancel();
          if (asked.delete(id)) resolve(said as Answer | null);
        };
        asked.set(id, settle);
        send(to, { id, from: node, kind, body }).catch((error: unknown) => {
          log.warn({ to, kind, err: error }, 'another node could not be asked');
          settle(null);
        });
      });
    },
    tell(to, kind, body) {
      send(to, { id: null, from: node, kind, body }).catch((error: unknown) =>
        log.warn({ to, kind, err: error }, 'another node could not be told'),
      );
    },
    on: (kind, handler) => void handlers.set(kind, handler),
    heard,
  };
}

/** Null: it is none. */
function envelopeIn(text: string): Envelope | null {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === 'object' && said !== null && ('answers' in said || 'kind' in said)
      ? (said as Envelope)
      : null;
  } catch {
    return null;
  }
}
