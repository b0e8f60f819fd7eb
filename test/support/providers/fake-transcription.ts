/**
 * A transcription session of OpenAI's realtime API on a virtual clock, without a network. It hears toy speech, tells
 * each word when it has ended, and gives the words of what was committed.
 */
import type { SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import { FakeEarSocket, FakeEars, FRAME_MS } from './fake-ear.ts';

export class FakeTranscription extends FakeEars<FakeTranscriptionSocket> {
  protected override socketOf(
    request: SocketRequest,
    listener: SocketListener,
    number: number,
  ): FakeTranscriptionSocket {
    return new FakeTranscriptionSocket(this, request, listener, number);
  }
}

interface Update {
  session: { audio: { input: { format: { type: string }; transcription: { model: string } } } };
}

const TOLD = 'conversation.item.input_audio_transcription';

export class FakeTranscriptionSocket extends FakeEarSocket {
  protected sound = { isMulaw: true, rateHz: 8000 };
  /** What happens to the next commits, in turn: `fail` has no text, `refuse` makes no item. */
  commits: ('fail' | 'refuse')[] = [];
  readonly #number: number;
  #tellsAtOnce = true;
  #items = 0;
  #words: string[] = [];
  /** Of the item that is being said. */
  #told = 0;
  #current: string | null = null;
  #bufferedMs = 0;

  constructor(fake: FakeTranscription, request: SocketRequest, listener: SocketListener, number: number) {
    super(fake, request, listener);
    this.#number = number;
  }

  protected override welcome(): void {
    this.opened();
    this.later({ type: 'session.created' });
  }

  protected override heard(data: string | Uint8Array): void {
    const message = JSON.parse(data as string) as Record<string, unknown>;
    if (message['type'] === 'input_audio_buffer.append') {
      this.hear(Buffer.from(String(message['audio']), 'base64'));
      return;
    }
    this.told.push(message);
    this.command(message);
  }

  protected override command(message: Record<string, unknown>): void {
    if (message['type'] === 'input_audio_buffer.commit') this.#commit(message['event_id']);
    if (message['type'] !== 'session.update') return;
    const { format, transcription } = (message as unknown as Update).session.audio.input;
    this.#tellsAtOnce = transcription.model === 'gpt-live-transcribe';
    this.sound = format.type === 'audio/pcmu' ? { isMulaw: true, rateHz: 8000 } : { isMulaw: false, rateHz: 24_000 };
    this.later({ type: 'session.updated' });
  }

  protected override frame(word: string | null): void {
    this.#bufferedMs += FRAME_MS;
    if (word !== null && word !== this.#current) this.#words.push(word);
    if (word === null && this.#current !== null && this.#tellsAtOnce) this.#tellWords();
    this.#current = word;
  }

  get #item(): string {
    return `item-${this.#number}-${this.#items}`;
  }

  #tellWords(): void {
    for (const word of this.#words.slice(this.#told)) {
      this.later({ type: `${TOLD}.delta`, item_id: this.#item, content_index: 0, delta: ` ${word}` });
    }
    this.#told = this.#words.length;
  }

  #commit(eventId: unknown): void {
    const how = this.commits.shift();
    if (this.#bufferedMs < 100 || how === 'refuse') {
      const error = { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty', event_id: eventId };
      this.later({ type: 'error', error });
      return;
    }
    const of = { item_id: this.#item, content_index: 0 };
    this.later({ type: 'input_audio_buffer.committed', item_id: this.#item, previous_item_id: null });
    if (how === 'fail') this.later({ type: `${TOLD}.failed`, ...of, error: { message: 'It could not.' } });
    else this.later({ type: `${TOLD}.completed`, ...of, transcript: `${this.#words.join(' ')}.` });
    this.#items++;
    this.#words = [];
    this.#told = 0;
    this.#current = null;
    this.#bufferedMs = 0;
  }
}
