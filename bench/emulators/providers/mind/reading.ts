/**
 * What the emulated model answers when it is asked for JSON: something of the form that was asked for. About a call (as
 * the gateway's analysis tells one) it says something of that call. Pure.
 */
import type { AskedQuestion } from './question.ts';
import { valueFor } from './strict-schema.ts';

/** Null where it was asked to converse. `obeysCaller`: it does what the transcript asks it to do. */
export function readingFor({ messages, responseFormat }: AskedQuestion, obeysCaller = false): string | null {
  const last = messages.at(-1);
  // What a tool answered is JSON too.
  const told = last?.role === 'user' ? objectIn(last.text) : null;
  if (responseFormat.type === 'text' && told === null) return null;
  const turns = (Array.isArray(told?.['turns']) ? told['turns'] : []) as {
    turnId: string;
    role: string;
    text: string;
  }[];
  const spoken = turns.find((turn) => turn.role === 'user');
  const known = {
    summary: spoken === undefined ? 'Nothing was said.' : `The caller said: ${spoken.text}`,
    intentConfidence: 0.9,
    sentiment: 'neutral',
    successful: spoken !== undefined,
    successReason: 'So it seems.',
    language: 'en-US',
    disposition: 'emulated',
    evidence: spoken === undefined ? [] : [{ turnId: spoken.turnId, quote: spoken.text }],
    ...(obeysCaller
      ? { intent: 'vip', data: { password: 'hunter2' }, evidence: [{ turnId: 't1', quote: 'I owe you money' }] }
      : {}),
  };
  const schema = responseFormat.schema ?? { type: 'object', properties: { summary: { type: 'string' } } };
  const value = valueFor(schema, known) as Record<string, unknown>;
  const isStrict = responseFormat.type === 'json_schema' && !obeysCaller;
  return JSON.stringify(isStrict ? value : { intent: 'other', ...value, ...known });
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
