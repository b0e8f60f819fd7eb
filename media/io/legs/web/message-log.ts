/**
 * The text messages of a session that a resumed client may have missed, by ordinal. Bounded: the oldest go. A user's
 * interim text is left out of a replay when a later one of its turn follows.
 */
const MOST_MESSAGES = 500;
const MOST_BYTES = 512 * 1024;

interface Kept {
  ordinal: number;
  text: string;
  /** Interim words of this turn: the next with the same takes their place. */
  overtakenBy: string | null;
}

export class MessageLog {
  #kept: Kept[] = [];
  #bytes = 0;
  #lastOrdinal: number;

  /** Ordinals go on after `lastOrdinal`. */
  constructor(lastOrdinal: number) {
    this.#lastOrdinal = lastOrdinal;
  }

  /** The text as it is sent, with the next ordinal in it. */
  add(message: object, interimTurn: string | null): string {
    const ordinal = ++this.#lastOrdinal;
    const text = JSON.stringify({ ...message, ordinal });
    this.#kept.push({ ordinal, text, overtakenBy: interimTurn });
    this.#bytes += text.length;
    while (this.#kept.length > MOST_MESSAGES || this.#bytes > MOST_BYTES)
      this.#bytes -= this.#kept.shift()!.text.length;
    return text;
  }

  /** A client that has seen more than we have said keeps its count: another process had said it. */
  skipTo(ordinal: number): void {
    this.#lastOrdinal = Math.max(this.#lastOrdinal, ordinal);
  }

  since(lastOrdinal: number): string[] {
    const missed = this.#kept.filter(({ ordinal }) => ordinal > lastOrdinal);
    const lastOf = new Map<string, number>();
    for (const { overtakenBy, ordinal } of missed) if (overtakenBy !== null) lastOf.set(overtakenBy, ordinal);
    return missed
      .filter(({ overtakenBy, ordinal }) => overtakenBy === null || lastOf.get(overtakenBy) === ordinal)
      .map(({ text }) => text);
  }
}
