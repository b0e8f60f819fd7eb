/**
 * AssemblyAI on a virtual clock, without a network: the wire of its streaming (v3), as its models of words speak it. It
 * hears toy speech, and says nothing of silence.
 */
import type { SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import { FakeEarSocket, FakeEars, FRAME_MS } from './fake-ear.ts';

export class FakeAssemblyAi extends FakeEars<FakeAssemblyAiSocket> {
  protected override socketOf(request: SocketRequest, listener: SocketListener): FakeAssemblyAiSocket {
    return new FakeAssemblyAiSocket(this, request, listener);
  }
}

interface FakeWord {
  text: string;
  start: number;
  end: number;
  confidence: number;
}

const LIKELY_END_MS = 200;
const END_MS = 600;

export class FakeAssemblyAiSocket extends FakeEarSocket {
  protected readonly sound: { isMulaw: boolean; rateHz: number };
  /** What is made of the words of a turn before they leave. */
  wordTimes: (words: readonly FakeWord[]) => readonly object[] = (words) => words;
  #words: FakeWord[] = [];
  #current: string | null = null;
  #silentMs = 0;
  #order = 0;

  constructor(fake: FakeAssemblyAi, request: SocketRequest, listener: SocketListener) {
    super(fake, request, listener);
    const { searchParams } = this.url;
    this.sound = {
      isMulaw: searchParams.get('encoding') === 'pcm_mulaw',
      rateHz: Number(searchParams.get('sample_rate')),
    };
  }

  protected override welcome(): void {
    this.opened();
    this.later({ type: 'Begin', id: 'session', expires_at: 0 });
  }

  protected override command({ type }: Record<string, unknown>): void {
    if (type === 'ForceEndpoint' && this.#words.length > 0) this.#end();
  }

  protected override frame(word: string | null): void {
    if (word === null) {
      this.#silentMs += FRAME_MS;
      if (this.#words.length === 0) return;
      if (this.#silentMs === LIKELY_END_MS) this.tell({ utterance: this.#text });
      else if (this.#silentMs === END_MS) this.#end();
    } else {
      this.#silentMs = 0;
      if (word === this.#current) this.#words.at(-1)!.end = this.nowMs;
      else {
        this.#words.push({ text: word, start: this.nowMs - FRAME_MS, end: this.nowMs, confidence: 0.9 });
        this.tell({});
      }
    }
    this.#current = word;
  }

  get #text(): string {
    return this.#words.map(({ text }) => text).join(' ');
  }

  #end(): void {
    this.tell({ end_of_turn: true });
    this.#order++;
    this.#words = [];
    this.#current = null;
  }

  /** Of the turn now. */
  tell(more: object): void {
    const words = this.#words.map((word) => ({ ...word, word_is_final: true }));
    this.later({
      turn_order: this.#order,
      turn_is_formatted: false,
      end_of_turn: false,
      transcript: this.#text,
      end_of_turn_confidence: 0.5,
      words: this.wordTimes(words),
      utterance: '',
      type: 'Turn',
      ...more,
    });
  }
}
