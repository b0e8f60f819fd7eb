/**
 * What a page asks of its session while that is live, message by message, and what it is asked in turn: the tools that
 * run there. `web-leg.ts` hands it each such message and asks it why the agent was cut short.
 */
import type { CallCommand } from '../../../contract/call-command.ts';
import { type ToolAsk, toolFailed } from '../../../contract/tools.ts';
import type { ClientMessage } from './client-messages.ts';
import type { OutboundMessages } from './outbound-messages.ts';
import type { WebSound } from './web-sound.ts';

export interface PageOrderListener {
  command(command: CallCommand): void;
}

/** Some hours of typing. What is typed while the agent speaks becomes one turn, which has to fit into one message. */
const MOST_TYPED_CHARACTERS = 40_000;

export class PageOrders {
  readonly #listener: PageOrderListener;
  readonly #outbound: OutboundMessages;
  #typedCharacters = 0;
  #clearReason: 'barge_in' | 'interrupt' | 'held' = 'barge_in';
  /** Tools that the page was asked for. */
  readonly #toolCalls = new Set<string>();

  constructor(listener: PageOrderListener, outbound: OutboundMessages) {
    this.#listener = listener;
    this.#outbound = outbound;
  }

  take(message: ClientMessage, { microphone, playout }: WebSound, nowMs: number): void {
    switch (message.type) {
      case 'playback.position':
        playout.position(message.utterance, message.playedMs, nowMs);
        break;
      case 'audio.mute':
        microphone.mute(message.muted, nowMs);
        break;
      case 'user.text':
        this.#typed(message.text, message.interrupt);
        break;
      case 'interrupt':
        this.#clearReason = 'interrupt';
        this.#listener.command({ type: 'interrupt' });
        break;
      case 'dtmf':
        for (const key of message.digits) this.#listener.command({ type: 'key', key });
        break;
      case 'tool.result':
        this.#toolResult(message.toolCallId, message.result, message.error);
        break;
    }
  }

  /** The agent is about to be cut short because the session stands still. */
  held(): void {
    this.#clearReason = 'held';
  }

  /** It was cut short. */
  cleared(utterance: number): void {
    this.#outbound.cleared(utterance, this.#clearReason);
    this.#clearReason = 'barge_in';
  }

  askTool(ask: ToolAsk, timeoutMs: number): void {
    // A thread that goes on for a dead one asks again; the page is at it already.
    if (this.#toolCalls.has(ask.toolCallId)) return;
    this.#toolCalls.add(ask.toolCallId);
    this.#outbound.toolCall(ask, timeoutMs);
  }

  cancelTool(toolCallId: string): void {
    this.#toolCalls.delete(toolCallId);
  }

  #typed(text: string, interrupt: boolean): void {
    this.#typedCharacters += text.length;
    if (this.#typedCharacters > MOST_TYPED_CHARACTERS) {
      this.#outbound.warnOnce('too_much_text', `A session takes ${MOST_TYPED_CHARACTERS} characters of typed text`);
      return;
    }
    if (interrupt) this.#clearReason = 'interrupt';
    this.#listener.command({ type: 'text', text, interrupt });
  }

  #toolResult(toolCallId: string, result: unknown, error: string | null): void {
    if (!this.#toolCalls.delete(toolCallId)) {
      this.#outbound.warn('unknown_tool_call', 'No tool call of this id waits for a result');
      return;
    }
    const answer = error === null ? { ok: true as const, status: null, result } : toolFailed('client_error', error);
    this.#listener.command({ type: 'tool.answer', toolCallId, answer });
  }
}
