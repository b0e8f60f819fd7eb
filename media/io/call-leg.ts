/** What a call's life needs of its leg, a carrier's stream or a browser's session; each has more, for its own sockets. */
import type { EndedReason } from '../contract/call-outcome.ts';
import type { LiveEvent } from '../contract/conversation.ts';
import type { ToolAsk } from '../contract/tools.ts';
import type { CallBlock } from '../rings/call-block.ts';
import type { LegCounters, LegEnd } from './leg.ts';

export interface CallLeg {
  readonly counters: LegCounters;
  /** Ms since the stream began; 0 before. */
  readonly streamMs: number;
  /** Ends it from our side. `reason`: why the call is over, where somebody hears of it. */
  stop(why?: LegEnd, code?: number, detail?: string, reason?: EndedReason | null): void;
  rebind(lostAtMs: number): CallBlock | null;
  serviceIfUrgent(nowMs: number): void;
  /** Keys for the far end; false where it has no use for them. */
  sendDigits(digits: string): boolean;
  /** The conversation, for who listens to it on the leg itself. */
  live?(event: LiveEvent): void;
  /** A tool of the page; its answer comes by `toolAnswered` of the leg's listener. False: there is no page. */
  toolAsked?(ask: ToolAsk, timeoutMs: number): boolean;
  toolCancelled?(toolCallId: string): void;
  /** The agent has said its last word. A leg with this ends itself; of another, control tells the carrier. */
  agentEnded?(reason: EndedReason): void;
  /** Another process has the call. */
  superseded?(): void;
  /** This process is being stopped, and the call may go on in another: it ends here without a word to control. */
  handOver?(): void;
}
