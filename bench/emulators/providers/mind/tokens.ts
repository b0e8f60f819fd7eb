/**
 * What the emulated model calls a token: up to six letters or three digits with the space before them, one other sign
 * with the space before it, or white space. Joined, tokens are the text again. Streams send one token a delta, usage
 * and limits count them. A real model's are longer on plain English (about 4 letters to this one's 3.5).
 */
const TOKEN = /\s?(?:[\p{L}\p{M}'’]{1,6}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}'’])|\s/gu;

/** Of a prompt: each message, each named part and the beginning of the answer cost so many beyond their text. */
const MESSAGE_TOKENS = 4;
const ANSWER_START_TOKENS = 3;

export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Of a request: what its messages and its tools cost. */
export function promptTokens(messages: readonly unknown[], tools: readonly unknown[]): number {
  let tokens = ANSWER_START_TOKENS;
  for (const message of messages) tokens += MESSAGE_TOKENS + textTokens(message);
  for (const tool of tools) tokens += MESSAGE_TOKENS + tokensOf(JSON.stringify(tool)).length;
  return tokens;
}

/** Of the strings in a message but its role: content, parts, names and arguments of calls, ids. */
function textTokens(value: unknown): number {
  if (typeof value === 'string') return tokensOf(value).length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value)
    .filter(([name]) => name !== 'role' && name !== 'type')
    .reduce((sum, [, one]) => sum + textTokens(one), 0);
}
