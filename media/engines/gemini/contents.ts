/**
 * A conversation as Gemini reads it. User and model in turn, each use of a tool answered by the very next content, and
 * with the first use of each answer the signature of the thoughts behind it, which newer models refuse to do without
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). Pure.
 */
import type { ModelMessage, ModelToolUse } from '../../contract/model.ts';
import { takenName, wellFormed } from '../provider/sayable-history.ts';
import { objectIn } from '../provider/told-json.ts';
import { signatureIn } from './thought-marks.ts';

export type Part = Record<string, unknown>;
export interface Content {
  role: 'user' | 'model';
  parts: Part[];
}

export interface SignatureRules {
  /** Which is asked. */
  model: string;
  /** Those that came with its uses are sent back. */
  sendsSignatures: boolean;
  /** In the turn that is under way a use without one is refused, be it another model's. */
  wantsSignatures: boolean;
}

/** The document's own word for a use whose signature is not there. */
const NO_SIGNATURE = 'skip_thought_signature_validator';
/** A conversation begins with the user, and it is the user who is answered. */
const BEGINNING = '[The call begins.]';
const GO_ON = '[The caller says nothing.]';

export function systemOf(messages: readonly ModelMessage[]): string {
  return messages
    .flatMap((message) => (message.role === 'system' ? [wellFormed(message.text)] : []))
    .join('\n\n')
    .trim();
}

export function contentsOf(messages: readonly ModelMessage[], rules: SignatureRules): Content[] {
  const out: Content[] = [];
  /** By the ids of uses: a result says whose it is. */
  const names = new Map<string, string>();
  const turnAt = messages.findLastIndex(({ role, text }) => role === 'user' && text.trim() !== '');
  for (const [at, message] of messages.entries()) {
    if (message.role === 'system') continue;
    const wantsSignatures = rules.wantsSignatures && at > turnAt;
    const parts = partsOf(message, names, { ...rules, wantsSignatures });
    if (parts.length === 0) continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = out.at(-1);
    if (last?.role === role && isResults(last.parts) === isResults(parts)) last.parts.push(...parts);
    else out.push({ role, parts });
  }
  if (out[0]?.role !== 'user') out.unshift({ role: 'user', parts: [{ text: BEGINNING }] });
  if (out.at(-1)!.role !== 'user') out.push({ role: 'user', parts: [{ text: GO_ON }] });
  return out;
}

/** What was said behind results is a content of its own: of theirs there are as many as there were uses. */
const isResults = ([first]: readonly Part[]): boolean => first !== undefined && 'functionResponse' in first;

function partsOf(
  message: Exclude<ModelMessage, { role: 'system' }>,
  names: Map<string, string>,
  rules: SignatureRules,
): Part[] {
  const text = wellFormed(message.text).trim();
  if (message.role === 'tool') {
    const name = names.get(message.useId) ?? '_';
    return [{ functionResponse: { id: message.useId, name, response: objectIn(text) ?? { output: text } } }];
  }
  const said = text === '' ? [] : [{ text }];
  if (message.role === 'user') return said;
  const uses = message.toolUses ?? [];
  for (const { useId, name } of uses) names.set(useId, takenName(name));
  return [...said, ...uses.map((use, index) => partOf(use, index, rules))];
}

function partOf(
  { useId, name, argumentsText, providerMark }: ModelToolUse,
  index: number,
  { model, sendsSignatures, wantsSignatures }: SignatureRules,
): Part {
  const own = sendsSignatures ? signatureIn(providerMark, model) : undefined;
  // The first of several has it for all of them.
  const signature = own ?? (wantsSignatures && index === 0 ? NO_SIGNATURE : undefined);
  return {
    functionCall: { id: useId, name: takenName(name), args: objectIn(argumentsText) ?? {} },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}
