/**
 * The uses of tools in one call, for any kind of agent: each begun use ends in exactly one result, whatever happens to
 * the request: an answer, a time limit, or the end of the call. What comes later is dropped. Results wait in a list
 * until the agent takes them, so that `begin` never calls back. Times are ms of stream: while a web session is away,
 * they stand still.
 */
import type { Checkpoint } from '../../contract/checkpoint.ts';
import type { Clock } from '../../contract/clock.ts';
import { shortHash } from '../../contract/short-hash.ts';
import {
  TOOL_DEFAULTS,
  type ToolAnswer,
  type ToolDefinition,
  type ToolResult,
  toolFailed,
} from '../../contract/tools.ts';
import type { CallReporter } from '../reporter.ts';
import type { ToolPort } from './tool-port.ts';

/** In one call at once. */
const MOST_AT_ONCE = 4;
/** Beyond the tool's own time, which whoever carries it out keeps: the way there and back. */
const LATE_MS = 500;
/** A result waits so long at most for a caller who talks on. */
const RESULT_WAITS_MS = 8_000;

export interface ToolUsesDeps {
  callUuid: string;
  definitions: readonly ToolDefinition[];
  port: ToolPort;
  clock: Clock;
  reporter: Pick<CallReporter, 'nowMs' | 'conversationEvent'>;
  /**
   * Of a call that goes on: uses that had no result are begun again by their agent, in the same order, under the same
   * ids.
   */
  resumed: Checkpoint['tools'] | null;
  /** A page listens. */
  hasPage: boolean;
}

interface OpenUse {
  toolCallId: string;
  name: string;
  begunAtMs: number;
  dueAtMs: number;
}

export class ToolUses {
  readonly #deps: ToolUsesDeps;
  readonly #definitions: ReadonlyMap<string, ToolDefinition>;
  readonly #open = new Map<string, OpenUse>();
  readonly #results: ToolResult[] = [];
  /** Their numbers, until the results are taken. */
  readonly #waiting = new Map<string, number>();
  /** Numbers of uses that had no result when another thread died, in order. */
  readonly #again: number[];
  #begun: number;
  /** Since when the oldest result waits to be taken; NaN: none does. */
  #resultSinceMs = Number.NaN;

  constructor(deps: ToolUsesDeps) {
    this.#deps = deps;
    this.#definitions = new Map(deps.definitions.map((definition) => [definition.name, definition]));
    const { begun = 0, waiting = false } = deps.resumed ?? {};
    this.#begun = begun;
    this.#again = waiting === true ? (begun > 0 ? [begun] : []) : waiting === false ? [] : [...waiting];
  }

  /** Begun, and its result not yet taken. */
  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  snapshot(): NonNullable<Checkpoint['tools']> {
    const waiting = [...this.#again, ...this.#waiting.values()];
    const isLastAlone = waiting.length === 1 && waiting[0] === this.#begun;
    return { begun: this.#begun, waiting: waiting.length === 0 ? false : isLastAlone ? true : waiting };
  }

  /**
   * Returns its id. The same use of the same call, begun again by another thread, has the same. `beforeAsk`: the use
   * counts as begun, and nothing has left.
   */
  begin(name: string, args: Record<string, unknown>, beforeAsk: () => void = () => {}): string {
    const { callUuid, port, clock, reporter, hasPage } = this.#deps;
    const digest = shortHash(JSON.stringify([name, args]));
    const number = this.#again.shift() ?? ++this.#begun;
    const toolCallId = `tc_${callUuid.replaceAll('-', '')}_${number}_${digest}`;
    this.#waiting.set(toolCallId, number);
    const definition = this.#definitions.get(name);
    const { kind = 'http', timeoutMs = TOOL_DEFAULTS.timeoutMs } = definition ?? {};
    const atPage = kind === 'client';
    const begunAtMs = reporter.nowMs;
    const use = { toolCallId, name, begunAtMs, dueAtMs: begunAtMs + timeoutMs + (atPage ? 0 : LATE_MS) };
    reporter.conversationEvent({ type: 'tool', phase: 'start', toolCallId, name, atMs: begunAtMs });
    if (definition === undefined) {
      this.#settle(use, toolFailed('unknown_tool', `The agent has no tool '${name}'.`));
    } else if (this.#open.size >= MOST_AT_ONCE) {
      this.#settle(use, toolFailed('busy', `${MOST_AT_ONCE} tools are at work in this call.`));
    } else if (atPage && !hasPage) {
      this.#settle(use, toolFailed('unsupported', `'${name}' is a tool of a page, and this call has none.`));
    } else {
      this.#open.set(toolCallId, use);
      beforeAsk();
      const ask = { toolCallId, name, arguments: args, expiresAtEpochMs: clock.epochMs() + timeoutMs };
      port.ask(ask, { atPage, timeoutMs });
    }
    return toolCallId;
  }

  answered(toolCallId: string, answer: ToolAnswer): void {
    const use = this.#open.get(toolCallId);
    if (use !== undefined) this.#settle(use, answer);
  }

  /** Gives up what is overdue. */
  tick(): void {
    if (this.#open.size === 0) return;
    const { reporter, port } = this.#deps;
    for (const use of this.#open.values()) {
      if (reporter.nowMs < use.dueAtMs) continue;
      port.cancel(use.toolCallId);
      this.#settle(use, toolFailed('timeout', `No answer within ${Math.round(use.dueAtMs - use.begunAtMs)} ms.`));
    }
  }

  /** The oldest result that nobody has taken; null when there is none, or when it waits for the caller to finish. */
  take(nowMs: number, callerSpeaks: boolean): ToolResult | null {
    if (this.#results.length === 0) return null;
    if (Number.isNaN(this.#resultSinceMs)) this.#resultSinceMs = nowMs;
    if (callerSpeaks && nowMs - this.#resultSinceMs < RESULT_WAITS_MS) return null;
    this.#resultSinceMs = Number.NaN;
    const result = this.#results.shift() ?? null;
    if (result !== null) this.#waiting.delete(result.toolCallId);
    return result;
  }

  /** The call is over: what is under way is called off, and its result is that it was. */
  cancel(): void {
    for (const use of this.#open.values()) {
      this.#deps.port.cancel(use.toolCallId);
      this.#settle(use, toolFailed('cancelled', 'The call ended first.'));
    }
    this.#results.length = 0;
    this.#waiting.clear();
  }

  #settle(use: OpenUse, answer: ToolAnswer): void {
    const { toolCallId, name } = use;
    const { reporter } = this.#deps;
    const atMs = reporter.nowMs;
    const ms = Math.max(0, Math.round(atMs - use.begunAtMs));
    this.#open.delete(toolCallId);
    this.#results.push({ ...answer, toolCallId, name, ms });
    const code = answer.ok ? null : answer.code;
    const outcome = answer.ok ? 'ok' : code === 'cancelled' ? 'cancelled' : 'failed';
    const { status } = answer;
    reporter.conversationEvent({ type: 'tool', phase: 'end', toolCallId, name, atMs, outcome, code, status, ms });
  }
}
