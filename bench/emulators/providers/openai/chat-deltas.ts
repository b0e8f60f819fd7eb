/**
 * What a streamed answer consists of, one step a token: text a token at a time, and calls as the service splits them: a
 * head with id and name, then fragments of the arguments. Pure; the chat endpoint sends a step every `tokenMs`.
 */
import { randomBytes } from 'node:crypto';
import type { Answer, ToolCall } from '../mind/rules.ts';
import type { Scenario } from '../mind/scenario.ts';
import { tokensOf } from '../mind/tokens.ts';

export interface AnswerLimits {
  maxTokens: number;
  stop: readonly string[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One step: what its chunks say. */
export type Step = object[];

interface Progress {
  completionTokens: number;
  reasoningTokens: number;
  finishReason: FinishReason;
}

/** Steps of an answer, lazily, since one may be without end; `progress` is right after the last. */
export function* stepsOf(
  answer: Answer,
  dialect: Scenario['dialect'],
  { maxTokens, stop }: AnswerLimits,
  progress: Progress,
): Generator<Step> {
  const asksTools = answer.calls.length > 0;
  progress.finishReason = asksTools && !dialect.finishesCallsWithStop ? 'tool_calls' : 'stop';
  const spend = (): boolean => {
    if (progress.completionTokens < maxTokens) {
      progress.completionTokens++;
      return true;
    }
    progress.finishReason = 'length';
    return false;
  };
  let opening: object[] = [{ role: 'assistant', content: answer.text === null ? null : '', refusal: null }];
  const open = (...deltas: object[]): Step => {
    const step = [...opening, ...deltas];
    opening = [];
    return step;
  };
  for (const token of tokensOf(dialect.reasoning)) {
    if (!spend()) return yield open();
    progress.reasoningTokens++;
    yield open({ reasoning_content: token });
  }
  const text = answer.text === null ? '' : cutAtStop(answer.text, stop);
  do {
    for (const content of tokensOf(text)) {
      if (!spend()) return yield open();
      yield open({ content });
    }
  } while (answer.scripted.repeats && text !== '');
  for (const [index, call] of answer.calls.entries()) {
    const head = opening.length > 0 && answer.calls.length === 1 && text === '' ? opening[0]! : null;
    if (head !== null) opening = [];
    for (const delta of callDeltas(call, index, dialect)) {
      if (!spend()) return yield open();
      // A lone call's head comes with the role.
      yield head !== null && 'id' in delta ? [{ ...head, tool_calls: [delta] }] : open({ tool_calls: [delta] });
    }
  }
  if (opening.length > 0) yield open();
  progress.finishReason = answer.scripted.finishReason ?? progress.finishReason;
}

export function callId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

function* callDeltas(call: ToolCall, index: number, dialect: Scenario['dialect']): Generator<object> {
  const place = dialect.callsWithoutIndex ? {} : { index };
  const head = { ...place, id: callId(), type: 'function' };
  if (dialect.wholeCalls) {
    yield { ...head, function: call };
    return;
  }
  yield { ...head, function: { name: call.name, arguments: '' } };
  for (const fragment of tokensOf(call.arguments)) yield { ...place, function: { arguments: fragment } };
}

/** Before the first of the words that were named. */
export function cutAtStop(text: string, stop: readonly string[]): string {
  const ends = stop.map((one) => (one === '' ? -1 : text.indexOf(one))).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

export function newProgress(): Progress {
  return { completionTokens: 0, reasoningTokens: 0, finishReason: 'stop' };
}
