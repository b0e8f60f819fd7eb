/**
 * Media processes of other nodes, by the same commands as our own: which node has a run is looked up, and its control
 * passes on what it is asked. Who answers a request is not who carries the call. Asked by `media-pool.ts` for runs that
 * are not here; this side of the wire and the other are both in this file.
 */
import type { Logger } from 'pino';
import type { ToMedia } from '../../media/contract/link-messages.ts';
import type { ControlAction, ControlOutcome } from '../../media/contract/operator-control.ts';
import type { NodeWire } from '../nodes/wire.ts';

export interface RemoteMedia {
  /** `unanswered`: it may or may not have happened, and is not asked again. */
  control(runId: string, callUuid: string, action: ControlAction): Promise<ControlOutcome | 'unanswered'>;
  /** May be lost. */
  tell(runId: string, message: ToMedia): void;
  /** Its greeting is to be rendered where it will land. */
  prepare(runId: string, callUuid: string): void;
  /** Resolves when what that run has said of the call is written, or nobody is there to know, or after 2 s. */
  lastWord(runId: string, callUuid: string): Promise<void>;
  /** The same of what it has said already, whether or not it goes on, within `limitMs`. */
  written(runId: string, callUuid: string, limitMs: number): Promise<void>;
}

/** What a node does when another asks it. */
export interface AskedOfHere {
  /** `not_here` where the run is not of this node: it is passed on once. */
  control(runId: string, callUuid: string, action: ControlAction): Promise<ControlOutcome | 'unanswered'>;
  tell(runId: string, message: ToMedia): void;
  prepare(runId: string, callUuid: string): Promise<void>;
  lastWord(callUuid: string): Promise<void>;
  written(callUuid: string): Promise<void>;
}

const CONTROL_LIMIT_MS = 3_000;
const LAST_WORD_LIMIT_MS = 2_000;
/** Who waits no longer than this does not ask whether the machine lives. */
const SHORT_WAIT_MS = 500;

export function createRemoteMedia(deps: {
  wire: Pick<NodeWire, 'ask' | 'tell'>;
  log: Logger;
  /** Null: it is dead, or nobody's. Rejects when the database is away. */
  nodeOf(runId: string): Promise<string | null>;
  /** False: nothing answers at that node's address, so that nobody need wait for its word. Never rejects. */
  answers(node: string): Promise<boolean>;
}): RemoteMedia {
  const { wire, log } = deps;

  function toNodeOf(runId: string, kind: string, body: object): void {
    deps.nodeOf(runId).then(
      (node) => {
        if (node !== null) wire.tell(node, kind, body);
      },
      (error: unknown) => log.warn({ runId, kind, err: error }, 'a command to media of another node was lost'),
    );
  }

  async function untilSaid(
    runId: string,
    kind: string,
    { callUuid, limitMs }: { callUuid: string; limitMs: number },
  ): Promise<void> {
    const node = await deps.nodeOf(runId).catch(() => null);
    if (node === null) return;
    const said = wire.ask(node, kind, { callUuid }, limitMs);
    if (limitMs <= SHORT_WAIT_MS) return void (await said);
    // Its row may not know yet that it was killed: the call, whose stream its carrier has lost, goes on without it.
    await Promise.race([said, deps.answers(node).then((lives) => (lives ? said : null))]);
  }

  return {
    async control(runId, callUuid, action) {
      const node = await deps.nodeOf(runId);
      if (node === null) return { done: false, why: 'not_here' };
      const body = { runId, callUuid, action };
      const outcome = await wire.ask<ControlOutcome | 'unanswered'>(node, 'media.control', body, CONTROL_LIMIT_MS);
      return outcome ?? 'unanswered';
    },
    tell: (runId, message) => toNodeOf(runId, 'media.tell', { runId, message }),
    prepare: (runId, callUuid) => toNodeOf(runId, 'media.prepare', { runId, callUuid }),
    lastWord: (runId, callUuid) => untilSaid(runId, 'media.last_word', { callUuid, limitMs: LAST_WORD_LIMIT_MS }),
    written: (runId, callUuid, limitMs) => untilSaid(runId, 'media.written', { callUuid, limitMs }),
  };
}

export function answerForMedia(wire: Pick<NodeWire, 'on'>, here: AskedOfHere): void {
  wire.on('media.control', (body: { runId: string; callUuid: string; action: ControlAction }) =>
    here.control(body.runId, body.callUuid, body.action),
  );
  wire.on('media.tell', (body: { runId: string; message: ToMedia }) => here.tell(body.runId, body.message));
  wire.on('media.prepare', (body: { runId: string; callUuid: string }) => here.prepare(body.runId, body.callUuid));
  wire.on('media.last_word', (body: { callUuid: string }) => here.lastWord(body.callUuid));
  wire.on('media.written', (body: { callUuid: string }) => here.written(body.callUuid));
}
