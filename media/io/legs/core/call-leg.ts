/**
 * A call's leg, a carrier's stream or a browser's session, as the call's life sees it, and what a leg tells of itself.
 * Both kinds stand on the same rings (`call-rings.ts`), are made in `call-registry.ts` and then get their sockets from
 * their endpoint.
 */
import type { CallCommand } from '../../../contract/call-command.ts';
import type { EndedReason } from '../../../contract/call-outcome.ts';
import type { ConversationEvent } from '../../../contract/conversation.ts';
import type { StreamEnd } from '../../../contract/link-messages.ts';
import type { ToolAsk } from '../../../contract/tools.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import type { FrameClockClient } from '../../frame-clock.ts';
import type { LegCounters } from './leg-counters.ts';
import type { SoundTap } from './sound-tap.ts';

export type LegEnd = StreamEnd;

export interface LegListener {
  started(streamId: string, carrierCallId: string, block: CallBlock, recordRing: SharedArrayBuffer | null): void;
  /** Frames were written for the pipeline. */
  fed(): void;
  /** What the far end asks of the agent: keys, and what a page types or answers. */
  command(command: CallCommand): void;
  /** The pipeline thread that took the call over has caught up, `gapMs` after the other one died. */
  recovered(gapMs: number): void;
  /** A fault of ours in the leg's path: the call is to end. */
  failed(error: unknown): void;
  /** Exactly once. `detail` says for the log what was wrong; empty for an ordinary end. */
  over(why: LegEnd, durationMs: number, detail: string): void;
}

export interface CallLeg extends FrameClockClient {
  readonly counters: LegCounters;
  /** Ms since the stream began; 0 before. */
  readonly streamMs: number;
  /** When this process is stopped its call can go on in another: it is handed over without a word to control. */
  readonly canMove: boolean;
  /** Ends it from our side. `reason`: why the call is over, where somebody hears of it. */
  stop(why?: LegEnd, code?: number, detail?: string, reason?: EndedReason | null): void;
  /** Another process has the call. */
  superseded(): void;
  /** This process is being stopped. */
  handOver(): void;
  /**
   * The pipeline thread died at `lostAtMs`: a new block for its successor, with what it had not read. Null: not begun,
   * or over.
   */
  rebind(lostAtMs: number): CallBlock | null;
  /** The pipeline has rung: what should not wait for the leg's slot of the clock. */
  serviceIfUrgent(nowMs: number): void;
  /** Keys for the far end; false where it has no use for them. */
  sendDigits(digits: string): boolean;
  /**
   * Somebody listens in from now on, to both directions; null: nobody any more. What the far end hears stays as it is.
   * False: the leg has no sound yet, or is over.
   */
  listen(tap: SoundTap | null): boolean;
  /** The conversation, for who listens to it on the leg itself. */
  conversationEvent(event: ConversationEvent): void;
  /** A tool of the page; its answer comes by `command` of the leg's listener. False: there is no page. */
  toolAsked(ask: ToolAsk, timeoutMs: number): boolean;
  toolCancelled(toolCallId: string): void;
  /** The agent has said its last word. A browser's leg then ends itself; of a carrier's, control tells the carrier. */
  agentEnded(reason: EndedReason): void;
}
