/**
 * What sets one protocol of language models apart from another: how it is asked, and how its streamed answer is read.
 * Everything else (limits, retries, what was used) is the same for all of them, in `model-service.ts`. Types, and what
 * several answers are made of.
 */
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ModelChunk, ModelRequest, ModelUsage, ProviderFault } from '../../contract/model.ts';

export type Stop = Extract<ModelChunk, { type: 'done' }>['stop'];

/** `Form`: how servers of the protocol differ, found out by asking. */
export interface ModelWire<Settings extends { model: string }, Form> {
  firstForm(grant: ConnectionGrant, settings: Settings): Form;
  /** Another form that may suit a server that refused this one with these words; null: it is not the form. */
  otherForm(form: Form, said: string): Form | null;
  /** Asked in this form it says what was used. */
  tellsUsage(form: Form): boolean;
  url(grant: ConnectionGrant, settings: Settings): string;
  headers(grant: ConnectionGrant): Record<string, string>;
  body(request: ModelRequest, settings: Settings, form: Form): Record<string, unknown>;
  /** Fields of the body that a model reads: of a request that was called off its tokens are estimated by them. */
  readonly promptFields: readonly string[];
  answer(say: (chunk: ModelChunk) => void): StreamedAnswer;
}

/** Reads one answer. A stranger writes it: what is no answer, or a part of another one, is an `AnswerFault`. */
export interface StreamedAnswer {
  /** Characters of text and arguments so far. */
  readonly chars: number;
  readonly usage: ModelUsage | null;
  /** The model has said all; only what it used may follow. */
  readonly stop: Stop | null;
  /** The protocol's last word was said. */
  readonly isDone: boolean;
  /** `data` of one event. Throws `AnswerFault`. */
  event(data: string): void;
}

/** What is wrong with an answer. */
export class AnswerFault extends Error {
  readonly fault: ProviderFault;
  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** More than any model reads. */
const MOST_TOKENS = 100_000_000;
/** No answer that is spoken is longer; the request's own limit is far below. */
export const MOST_TEXT_CHARS = 100_000;
export const MOST_TOOL_USES = 32;
const MOST_ARGUMENTS_CHARS = 64 * 1024;

/** Of tokens; what no request can have is not counted: it would use up what the call, or the connection, may. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}

export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A use of a tool while its arguments come. */
export interface GrowingUse {
  id: string;
  name: string;
  argumentsText: string;
}

export function newUse(uses: GrowingUse[], id = '', name = ''): GrowingUse {
  if (uses.length >= MOST_TOOL_USES) throw new AnswerFault('failed', `it uses more than ${MOST_TOOL_USES} tools`);
  const use = { id, name, argumentsText: '' };
  uses.push(use);
  return use;
}

export function addArguments(use: GrowingUse, more: string): void {
  use.argumentsText += more;
  if (use.argumentsText.length > MOST_ARGUMENTS_CHARS) {
    throw new AnswerFault('failed', `the arguments of a tool have more than ${MOST_ARGUMENTS_CHARS} characters`);
  }
}

/** Tells the uses of an answer that is over; ids that are missing, or came twice, are made up. How many were told. */
export function tellUses(uses: readonly GrowingUse[], isCut: boolean, say: (chunk: ModelChunk) => void): number {
  const ids = new Set<string>();
  for (const { id, name, argumentsText } of uses) {
    // What was cut off is no use of a tool.
    if (name === '' || (isCut && !isJson(argumentsText))) continue;
    const useId = id === '' || ids.has(id) ? `call_${ids.size + 1}_${name}`.slice(0, 64) : id;
    ids.add(useId);
    say({ type: 'use', use: { useId, name, argumentsText: argumentsText === '' ? '{}' : argumentsText } });
  }
  return ids.size;
}

// What a model once wrote is a part of every request after it: one that the server refuses would lose the whole call.

/** Half of a pair, where a text was cut within it: no UTF-8 can say it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Models invent names such as `functions.find`; servers take these characters, and 64 of them. */
export function takenName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || '_';
}

/** Undefined: the text is no JSON of an object. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
