/**
 * A call as the pool of pipeline threads has it: on which thread it is and what that has said of it, so that the next
 * one can go on where a thread died. Made by `pipeline-pool.ts`, which decides where it goes.
 */
import type { CallCommand } from '../../contract/call-command.ts';
import type { EndedReason } from '../../contract/call-outcome.ts';
import { type Checkpoint, EMPTY_CHECKPOINT, readCheckpoint } from '../../contract/checkpoint.ts';
import type { ConversationEvent, Turn } from '../../contract/conversation.ts';
import type { CallSetup } from '../../contract/link-messages.ts';
import { type ControlOutcome, controlRefused } from '../../contract/operator-control.ts';
import type { FromPipeline, UtteranceBegun } from '../../contract/thread-messages.ts';
import type { ToolAsk } from '../../contract/tools.ts';
import { blockShapeOf, CallBlock } from '../../rings/call-block.ts';
import { NO_SEAT } from '../../rings/feed-board.ts';
import type { PipelineThreadHost } from './pipeline-thread-host.ts';

/** What a thread says of one call. */
type OfCall = Extract<FromPipeline, { type: `call.${string}` }>;

interface CallSettler {
  /** The call is over for its threads, and its listener hears so. */
  settle(call: PooledCall, lost: boolean): void;
}

export interface PlacedCallListener {
  conversationEvent(event: ConversationEvent): void;
  checkpoint(checkpoint: Checkpoint): void;
  ended(reason: EndedReason, disposition: string | null, error: string | null): void;
  controlled(controlId: string, outcome: ControlOutcome): void;
  /** The agent uses a tool. Asked again, under the same id, by a thread that goes on where another died. */
  toolAsked(ask: ToolAsk, where: { atPage: boolean; timeoutMs: number }): void;
  toolCancelled(toolCallId: string): void;
  /** The pipeline has said its last about this call: after `stop`, or because it cannot go on (`lost` true). */
  closed(lost: boolean): void;
  /** The thread died at `lostAtMs`; a new block for its successor, or null when the leg is over. */
  moved(lostAtMs: number): SharedArrayBuffer | null;
}

export interface PlacedCall {
  /** Frames were written: the thread's bell is rung at the end of the tick. */
  fed(): void;
  /**
   * Lost where no thread carries the call: of a tool's answer the next one asks again. After `control` the listener's
   * `controlled` follows, unless the thread dies.
   */
  command(command: CallCommand): void;
  /** `closed` follows. */
  stop(): void;
}

export class PooledCall implements PlacedCall {
  readonly setup: CallSetup;
  readonly listener: PlacedCallListener;
  readonly pool: CallSettler;
  host: PipelineThreadHost | null = null;
  /** On its thread's board. */
  seat = NO_SEAT;
  checkpoint: Checkpoint | null;
  /** What it shares with the thread that it is on, or was. */
  block: SharedArrayBuffer | null = null;
  /** Its agent's open turn, as far as the thread has told. */
  utterance: UtteranceBegun | null = null;
  /** Number of the last turn that was told: a thread may die between a turn and its checkpoint. */
  toldTurns = 0;
  /** What its agent was saying when the last thread died. */
  #cut: NonNullable<Checkpoint['cut']> | null = null;
  moves = 0;
  deathsInItsWork = 0;
  movedAtMs = 0;
  isStopping = false;
  /** A successor must be told too. */
  isHeld = false;

  constructor(pool: CallSettler, setup: CallSetup, listener: PlacedCallListener) {
    this.pool = pool;
    this.setup = setup;
    this.listener = listener;
    this.checkpoint = setup.checkpoint === null ? null : readCheckpoint(setup.checkpoint);
  }

  /** What a successor goes on from; its first turn has a number of its own. */
  resumeFrom(): Checkpoint | null {
    const { checkpoint, toldTurns } = this;
    const cut = this.#cut;
    this.#cut = null;
    if (toldTurns === 0) return checkpoint;
    const from = checkpoint ?? EMPTY_CHECKPOINT;
    const nextTurnNumber = Math.max(from.nextTurnNumber, toldTurns + 1);
    return { ...from, nextTurnNumber, ...(cut === null ? {} : { cut }) };
  }

  tellEvent(event: ConversationEvent): void {
    if (event.type === 'turn') {
      this.toldTurns = Math.max(this.toldTurns, numberOf(event.turn));
      if (event.turn.turnId === this.utterance?.turnId) this.utterance = null;
    }
    this.listener.conversationEvent(event);
  }

  /**
   * The thread died while the agent spoke: its turn is told with what was heard of it. Nothing
   * happens when it did not speak.
   */
  closeUtterance(): void {
    const { utterance, block, setup } = this;
    this.utterance = null;
    // A tone has no words, and is no turn.
    if (utterance === null || utterance.text === '' || block === null) return;
    const { turnId, text, stepId, startMs, startStreamMs } = utterance;
    const { streamMs, heardChars } = CallBlock.attach(block, blockShapeOf(setup));
    const endMs = Math.max(startMs, startMs + streamMs - startStreamMs);
    this.tellEvent({ type: 'speech', who: 'agent', phase: 'end', atMs: endMs, turnId });
    const heardText = text.slice(0, heardChars);
    const turn: Turn = { turnId, role: 'agent', startMs, endMs, text, heardText, interrupted: true, kind: 'speech' };
    this.tellEvent({ type: 'turn', turn: stepId === null ? turn : { ...turn, stepId } });
    this.#cut = { text, heardText };
  }

  fed(): void {
    this.host?.fed(this.seat);
  }

  command(command: CallCommand): void {
    const { callUuid } = this.setup;
    if (command.type === 'hold') this.isHeld = command.held;
    if (this.host !== null && !(this.isStopping && command.type === 'control')) {
      this.host.post({ type: 'call.command', callUuid, command });
    } else if (command.type === 'control') {
      this.listener.controlled(command.controlId, controlRefused('not_here'));
    }
  }

  stop(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    if (this.host === null) this.pool.settle(this, false);
    else this.host.post({ type: 'call.stop', callUuid: this.setup.callUuid });
  }

  /** What the thread that has it says of it. */
  heard(message: OfCall): void {
    switch (message.type) {
      case 'call.event':
        this.tellEvent(message.event);
        break;
      case 'call.speaking':
        this.utterance = message.utterance;
        break;
      case 'call.speaking.more':
        if (this.utterance?.turnId === message.turnId) this.utterance.text += message.more;
        break;
      case 'call.checkpoint':
        this.checkpoint = message.checkpoint;
        this.listener.checkpoint(message.checkpoint);
        break;
      case 'call.end':
        this.listener.ended(message.reason, message.disposition, message.error);
        break;
      case 'call.controlled':
        this.listener.controlled(message.controlId, message.outcome);
        break;
      case 'call.tool':
        this.listener.toolAsked(message.ask, message);
        break;
      case 'call.tool.cancel':
        this.listener.toolCancelled(message.toolCallId);
        break;
      case 'call.closed':
        this.pool.settle(this, !this.isStopping);
        break;
    }
  }
}

/** `t12` is the twelfth turn. */
function numberOf({ turnId }: Turn): number {
  return Number(turnId.slice(1)) || 0;
}
