/**
 * Makes chunks of a model out of the events of a streamed answer of Gemini, each a response of its own with a part of
 * the whole. A stranger writes them: what belongs to another answer is a fault, what is not known is left out. Pure;
 * one instance an answer.
 */
import type { ModelChunk } from '../../contract/model.ts';
import { faultOfError } from '../provider/answer-fault.ts';
import { GrowingAnswer } from '../provider/growing-answer.ts';
import { AnswerFault, type Stop } from '../provider/model-wire.ts';
import { isCount, memberOf, objectIn } from '../provider/told-json.ts';
import { markOf } from './thought-marks.ts';

const STOPS: Readonly<Record<string, Stop>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
};
/** It wrote what it could not finish: another may do better. */
const GAVE_UP = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
]);
/** Of a signature; a longer one is left out, and the use goes back without. */
const MOST_SIGNATURE_CHARS = 64 * 1024;

export class GenerateAnswer extends GrowingAnswer {
  readonly #model: string;
  #id: string | null = null;

  /** `model`: which answers. */
  constructor(say: (chunk: ModelChunk) => void, model: string) {
    super(say);
    this.#model = model;
  }

  event(data: string): void {
    if (this.isDone) return;
    const chunk = objectIn(data);
    if (chunk === undefined) throw new AnswerFault('failed', 'the answer is not one of a Gemini endpoint');
    const { error } = chunk;
    if (error !== undefined && error !== null) throw new AnswerFault(...faultOfError(error));
    this.#sameAnswer(chunk['responseId']);
    const candidate = memberOf(chunk['candidates'], '0');
    const reason = reasonOf(memberOf(candidate, 'finishReason'));
    const parts = memberOf(memberOf(candidate, 'content'), 'parts');
    if (Array.isArray(parts)) for (const part of parts) this.#part(part);
    const blocked = reasonOf(memberOf(chunk['promptFeedback'], 'blockReason'));
    const isBlocked = candidate === undefined && blocked !== null;
    const isLast = isBlocked || reason !== null;
    this.#readUsage(chunk['usageMetadata'], isLast);
    if (isBlocked) this.finish('filtered');
    else if (reason !== null) this.#stopped(reason);
  }

  /** A server, or a proxy before it, that mixes answers up must not have one caller hear another's. */
  #sameAnswer(id: unknown): void {
    if (typeof id !== 'string' || id === '') return;
    this.#id ??= id;
    if (id !== this.#id) throw new AnswerFault('failed', 'a part of the answer belongs to another request');
  }

  #part(part: unknown): void {
    if (this.stop !== null || memberOf(part, 'thought') === true) return;
    const text = memberOf(part, 'text');
    if (typeof text === 'string') this.text(text);
    const call = memberOf(part, 'functionCall');
    if (call === undefined || call === null) return;
    const [id, name, args] = [memberOf(call, 'id'), memberOf(call, 'name'), memberOf(call, 'args')];
    const use = this.newUse(typeof id === 'string' ? id : '', typeof name === 'string' ? name : '');
    this.addArguments(use, JSON.stringify(args ?? {}));
    const signature = memberOf(part, 'thoughtSignature');
    if (typeof signature === 'string' && signature.length <= MOST_SIGNATURE_CHARS)
      use.providerMark = markOf(this.#model, signature);
  }

  #stopped(reason: string): void {
    if (GAVE_UP.has(reason)) throw new AnswerFault('failed', `it gave up its answer (${reason})`);
    this.finish(STOPS[reason] ?? 'end');
  }

  /** Counts grow; what was thought is paid for like what was said. Before the first word only the prompt is counted. */
  #readUsage(told: unknown, isLast: boolean): void {
    const of = (name: string): number | undefined => {
      const count = memberOf(told, name);
      return isCount(count) ? count : undefined;
    };
    const prompt = of('promptTokenCount');
    const said = of('candidatesTokenCount');
    if (prompt === undefined || (said === undefined && !isLast)) return;
    // What came last does not always say again what was said before.
    const before = this.usage?.outputTokens ?? 0;
    const inputTokens = prompt + (of('toolUsePromptTokenCount') ?? 0);
    this.usage = {
      inputTokens,
      cachedInputTokens: Math.min(of('cachedContentTokenCount') ?? 0, inputTokens),
      outputTokens: Math.max(before, (said ?? 0) + (of('thoughtsTokenCount') ?? 0)),
    };
  }
}

/** Null: there is none, which some say in words. */
function reasonOf(told: unknown): string | null {
  return typeof told === 'string' && told !== '' && !/^(FINISH|BLOCK(ED)?)_REASON_UNSPECIFIED$/.test(told)
    ? told
    : null;
}
