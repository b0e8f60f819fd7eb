/**
 * A server of OpenAI's speech endpoint on a virtual clock, without a network: each character of the text sounds for 50
 * ms at 24 kHz, in pieces of odd lengths.
 */
import type { GuardedStreams, StreamedRequest, StreamListener } from '../../../media/net/guarded-stream.ts';
import type { VirtualClock } from '../virtual-clock.ts';

const CHAR_MS = 50;
const PIECE_BYTES = 9_601;
const PIECE_EVERY_MS = 20;

export class FakeSpeechServer implements Pick<GuardedStreams, 'open'> {
  readonly requests: { url: string; headers: Readonly<Record<string, string>>; body: Record<string, unknown> }[] = [];
  readonly voices = ['alloy', 'nova'];
  calledOff = 0;
  /**
   * For the next requests, in turn: a status, a kept connection that had gone, nothing at all, half of the sound, or no
   * sound.
   */
  faults: (number | 'stale' | 'silent' | 'half' | 'reset' | 'json')[] = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  open(request: StreamedRequest, listener: StreamListener): () => void {
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
    this.requests.push({ url: request.url, headers: request.headers, body });
    let isOver = false;
    let dueMs = 100;
    const later = (run: () => void): void => {
      this.#clock.after(dueMs, () => isOver || run());
      dueMs += PIECE_EVERY_MS;
    };
    const fault = this.faults.shift() ?? (this.voices.includes(String(body['voice'])) ? null : 400);
    const text = String(body['input']);
    if (typeof fault === 'number') {
      later(() => listener.began(fault, { 'content-type': 'application/json' }));
      later(() => listener.data(Buffer.from('{"error":{"message":"Supported voices are: alloy, nova."}}')));
      later(() => listener.ended());
    } else if (fault === 'stale' || fault === 'reset') {
      const isStale = fault === 'stale';
      later(() => listener.failed({ kind: 'failed', reason: 'it was reset', isTimeout: false, isStale }));
    } else if (fault !== 'silent') {
      later(() => listener.began(200, { 'content-type': fault === 'json' ? 'application/json' : 'audio/pcm' }));
      const sound = soundOf(text);
      for (let at = 0; at < sound.length; at += PIECE_BYTES)
        later(() => listener.data(sound.subarray(at, at + PIECE_BYTES)));
      if (fault !== 'half') later(() => listener.ended());
    }
    return () => {
      if (!isOver) this.calledOff++;
      isOver = true;
    };
  }
}

function soundOf(text: string): Buffer {
  const sound = Buffer.alloc(text.length * CHAR_MS * 48);
  for (let i = 0; i < sound.length / 2; i++)
    sound.writeInt16LE(text[Math.floor(i / (CHAR_MS * 24))] === ' ' ? 0 : 8_000, 2 * i);
  return sound;
}
