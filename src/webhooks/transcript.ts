/**
 * The one text form of a conversation (webhooks, call log): a line a turn, only what was heard. Called with turns in
 * the order in which they began. Must not look at `text`: an agent's unplayed words are in there.
 */
import type { Turn } from '../../media/contract/conversation.ts';

const SPEAKERS: Record<Turn['role'], string> = { agent: 'Agent', user: 'Customer' };

/** `"Agent: Hello …\nCustomer: …"`; null when nobody was heard to say anything. */
export function transcriptOf(turns: readonly Turn[]): string | null {
  const lines: string[] = [];
  for (const turn of turns) {
    const heard = oneLine(turn.heardText);
    if (heard !== '') lines.push(`${SPEAKERS[turn.role]}: ${heard}`);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

/** A line break inside a turn would look like another speaker's line. */
function oneLine(text: string): string {
  // \p{Cc} are the control characters; U+2028 and U+2029 are line breaks too.
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}

export interface CutText {
  text: string;
  truncated: boolean;
}

/**
 * At most `maxBytes` of UTF-8, cut at a line's end where one lies in the last 1,000 bytes, never inside a character.
 */
export function cutTranscript(text: string, maxBytes: number): CutText {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, truncated: false };
  let end = maxBytes;
  // Continuation bytes of UTF-8 are 10xxxxxx: go back to the first byte of the character that does not fit.
  while (end > 0 && (bytes[end]! & 0b1100_0000) === 0b1000_0000) end--;
  const lineEnd = bytes.lastIndexOf(0x0a, end);
  if (lineEnd > 0 && end - lineEnd <= 1_000) end = lineEnd;
  return { text: bytes.toString('utf8', 0, end), truncated: true };
}
