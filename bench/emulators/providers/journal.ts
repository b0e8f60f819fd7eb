/**
 * What an emulated provider received and sent, for tests and people: `endpoint.journal` in the process, `GET
 * /emulator/journal` outside of it. Written by the endpoint for what passes through it, and by providers by `note`.
 * Sound is counted and not kept; credentials never get in.
 */
export interface JournalEntry {
  /** Monotonic, of the emulator's own clock. */
  atMs: number;
  /** Of the request or the socket: `deepgram-3`. */
  exchange: string;
  /** `request`, `upgrade`, `refused`, `received`, `sent`, `fault`, `closed`; a provider has its own beside them. */
  type: string;
  /** What the type says about itself: a path and query, a message, a close code, … */
  [detail: string]: unknown;
}

const MOST_ENTRIES = 20_000;

export class Journal {
  readonly #entries: JournalEntry[] = [];
  readonly #nowMs: () => number;
  /** Entries that were forgotten because there were too many; the oldest go first. */
  forgotten = 0;
  /** What was due and left later than it was due: where it is great, milliseconds mean nothing. */
  maxLatenessMs = 0;

  /** Wall clock at which the emulator's own was 0. */
  readonly epochAtZeroMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.epochAtZeroMs = Date.now() - nowMs();
  }

  note(exchange: string, type: string, detail: Record<string, unknown> = {}): void {
    this.#entries.push({ atMs: this.#nowMs(), exchange, type, ...detail });
    if (this.#entries.length <= MOST_ENTRIES) return;
    this.#entries.shift();
    this.forgotten++;
  }

  /** In the order in which it happened; a copy. */
  entries(type?: string): JournalEntry[] {
    return this.#entries.filter((entry) => type === undefined || entry.type === type);
  }

  clear(): void {
    this.#entries.length = 0;
    this.maxLatenessMs = 0;
  }
}
