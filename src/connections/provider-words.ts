/**
 * What a provider said of a request that it refused, for a person: a stranger wrote it, so it comes in quotes, on one
 * line, cut, and without the key, which some servers repeat. Used by trials of connections and by the analysis.
 */
import { plainLine } from '../calls/findings.ts';

const LONGEST = 200;
/** Where providers put their sentence: OpenAI's protocol, ElevenLabs, Deepgram. */
const PLACES = [
  ['error', 'message'],
  ['detail', 'message'],
  ['err_msg'],
  ['details'],
  ['message'],
  ['error'],
  ['detail'],
] as const;

/** `: “…”`, or nothing where there is no sentence. `secrets`: what must not be in it. */
export function saidBy(body: string, secrets: readonly (string | null)[]): string {
  const answer = parsed(body);
  const said = PLACES.map((path) => path.reduce<unknown>(memberOf, answer)).find(
    (value) => typeof value === 'string' && value !== '',
  ) as string | undefined;
  if (said === undefined) return '';
  const clean = secrets.reduce<string>((text, secret) => (secret === null ? text : text.replaceAll(secret, '…')), said);
  // Or in part: `sk-ab*****yz`.
  return `: “${plainLine(clean.replace(/\bsk[-_][\w*-]+/g, '…'), LONGEST)}”`;
}

/** Undefined: it is no JSON. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

export function memberOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}
