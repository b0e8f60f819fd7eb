/**
 * When the emulated voice let the first sound of a text leave: read from its journal, told to the replies that are made
 * of these texts. Calls share sockets and say the same, so texts are given out in the order in which they were asked
 * for. Pure.
 */
import type { JournalEntry } from '../harness/providers-process.ts';

interface Spoken {
  text: string;
  askedAtEpochMs: number;
  soundAtEpochMs: number;
}

/** The clocks of two processes, and the way between them. */
const SLACK_MS = 10;

export class VoiceBytes {
  readonly #open: Spoken[];

  constructor(entries: readonly JournalEntry[]) {
    this.#open = spokenIn(entries);
  }

  /** Wall clock; null: no such text was asked for then. Each is given once. */
  take(turnText: string, askedAtEpochMs: number): number | null {
    const at = this.#open.findIndex(
      (one) => one.askedAtEpochMs >= askedAtEpochMs - SLACK_MS && turnText.startsWith(one.text),
    );
    return at < 0 ? null : this.#open.splice(at, 1)[0]!.soundAtEpochMs;
  }
}

function spokenIn(entries: readonly JournalEntry[]): Spoken[] {
  const texts = new Map<string, Spoken>();
  const spoken: Spoken[] = [];
  for (const { type, exchange, message, atEpochMs } of entries) {
    const said = (message ?? {}) as { text?: string; context_id?: string; contextId?: string; audio?: unknown };
    if (type === 'received' && said.context_id !== undefined && (said.text ?? '').trim() !== '') {
      const key = `${exchange} ${said.context_id}`;
      if (!texts.has(key)) {
        texts.set(key, { text: said.text!.trim(), askedAtEpochMs: atEpochMs, soundAtEpochMs: Number.NaN });
      }
    }
    const open = type === 'sent' && said.audio != null ? texts.get(`${exchange} ${said.contextId}`) : undefined;
    if (open === undefined || !Number.isNaN(open.soundAtEpochMs)) continue;
    open.soundAtEpochMs = atEpochMs;
    spoken.push(open);
  }
  return spoken.sort((a, b) => a.askedAtEpochMs - b.askedAtEpochMs);
}
