/**
 * Carries out one use of an HTTP tool: arguments checked, request made and sent, one retry where that may be, and exactly one answer within the
 * tool's time. Never rejects and knows no database; the executor and `parley tool test` call it.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { TOOL_DEFAULTS, type ToolAnswer, type ToolDefinition, toolFailed } from '../../media/contract/tools.ts';
import type { OutboundHttp, OutboundResult } from '../../media/net/outbound-http.ts';
import { checkArguments } from './argument-check.ts';
import { toolAnswer } from './tool-answer.ts';
import { type ToolCallFacts, type ToolRequest, toolRequest } from './tool-request.ts';

export interface ToolUse {
  definition: ToolDefinition;
  toolCallId: string;
  arguments: Record<string, unknown>;
  call: ToolCallFacts;
  /** By name. */
  secrets: ReadonlyMap<string, string>;
  signingSecrets: readonly string[];
}

export interface SendDeps {
  http: Pick<OutboundHttp, 'send'>;
  clock: Clock;
  /** Aborted: the call is over. */
  signal: AbortSignal;
  /** Each request as it is sent, secrets by their names. */
  sending?(request: Extract<ToolRequest, { ok: true }>): void;
  /** Each raw answer. */
  answered?(result: OutboundResult): void;
}

const RETRY_AFTER_MS = 250;

export async function sendTool(use: ToolUse, deps: SendDeps): Promise<ToolAnswer> {
  const { definition } = use;
  const { clock, signal } = deps;
  const checked = checkArguments(definition.parameters, use.arguments);
  if (!checked.ok) return toolFailed('bad_arguments', checked.problem);
  const { timeoutMs = TOOL_DEFAULTS.timeoutMs, retries = 0 } = definition;
  const limit = new AbortController();
  let isLate = false;
  const callOff = (): void => limit.abort();
  const cancelLimit = clock.after(timeoutMs, () => {
    isLate = true;
    limit.abort();
  });
  if (signal.aborted) callOff();
  signal.addEventListener('abort', callOff, { once: true });
  try {
    for (let attempt = 0; ; attempt++) {
      const made = toolRequest({
        ...use,
        arguments: checked.value,
        secretOf: (name) => use.secrets.get(name),
        timestampSeconds: Math.floor(clock.epochMs() / 1000),
      });
      if (!made.ok) return toolFailed('missing_secret', made.problem);
      deps.sending?.(made);
      const result = await deps.http.send({ ...made.request, signal: limit.signal });
      deps.answered?.(result);
      if (signal.aborted) return toolFailed('cancelled', 'The call ended first.');
      if (isLate) return toolFailed('timeout', `No answer within ${timeoutMs} ms.`, statusOf(result));
      if (attempt >= retries || !mayRepeat(result)) {
        return toolAnswer(definition, result, [...use.secrets.values(), ...use.signingSecrets]);
      }
      await pause(clock, RETRY_AFTER_MS, limit.signal);
    }
  } finally {
    cancelLimit();
    signal.removeEventListener('abort', callOff);
  }
}

/** A fault of the moment, as far as can be told. */
function mayRepeat(result: OutboundResult): boolean {
  if (result.kind === 'failed') return true;
  return result.kind === 'answered' && (result.status === 429 || result.status >= 500);
}

function statusOf(result: OutboundResult): number | null {
  return result.kind === 'answered' ? result.status : null;
}

function pause(clock: Clock, afterMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(afterMs, done);
    function done(): void {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}
