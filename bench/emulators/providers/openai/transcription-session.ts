/**
 * One socket of `/v1/realtime?intent=transcription`: sound comes in as text, what was appended is committed by the
 * client, and each commit becomes an item with its words. Models that tell at once do so word by word while somebody
 * speaks; the others when the item is committed. Made by the emulator once an upgrade.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import { Hearing, type SoundFormat } from '../hearing/hearing.ts';
import { writtenWords } from '../hearing/written-words.ts';
import type { SocketExchange } from '../provider.ts';
import type { WordRecogniser } from '../word-recogniser.ts';

export interface TranscriptionTiming {
  /** After the sound that it covers. */
  deltaMs: number;
  /** After the commit. */
  completedMs: number;
}

export interface TranscriptionOptions {
  recogniser: WordRecogniser;
  vocabulary: readonly string[];
  timing: TranscriptionTiming;
}

const LEAST_COMMIT_MS = 100;
const LONGEST_SESSION_S = 3_600;
const TELLS_AT_ONCE = /^gpt-live-transcribe|^gpt-realtime-whisper/;
const MODELS = /^(whisper-1|gpt-(live-)?transcribe|gpt-4o-(mini-)?transcribe(-\d{4}-\d\d-\d\d)?|gpt-realtime-whisper)$/;
const TOLD = 'conversation.item.input_audio_transcription';

const updateSchema = z.object({
  type: z.literal('transcription'),
  audio: z.object({
    input: z.object({
      format: z.union([
        z.object({ type: z.literal('audio/pcm'), rate: z.literal(24_000) }),
        z.object({ type: z.literal('audio/pcmu') }),
      ]),
      transcription: z.object({
        model: z.string().regex(MODELS, 'unknown model'),
        language: z.string().optional(),
        languages: z.array(z.string()).optional(),
        keywords: z.array(z.string()).optional(),
        prompt: z.string().optional(),
      }),
      /** The server's own is not emulated. */
      turn_detection: z.null(),
      noise_reduction: z.object({ type: z.enum(['near_field', 'far_field']) }).nullish(),
    }),
  }),
});

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.update'), event_id: z.string().optional(), session: z.unknown() }),
  z.object({ type: z.literal('input_audio_buffer.append'), event_id: z.string().optional(), audio: z.base64() }),
  z.object({ type: z.literal('input_audio_buffer.commit'), event_id: z.string().optional() }),
  z.object({ type: z.literal('input_audio_buffer.clear'), event_id: z.string().optional() }),
]);

type Session = z.output<typeof updateSchema>;

interface Item {
  id: string;
  /** Of its sound. */
  ms: number;
  /** Words that were told. */
  told: string[];
}

export function openTranscription(exchange: SocketExchange, options: TranscriptionOptions): void {
  const { timing, recogniser } = options;
  const { timetable } = exchange;
  let session: Session | null = null;
  let hearing: Hearing | null = null;
  let item: Item = { id: newId('item'), ms: 0, told: [] };
  let previousId: string | null = null;
  let bufferedMs = 0;
  const sessionId = newId('sess');
  const expiresAt = Math.floor(Date.now() / 1_000) + LONGEST_SESSION_S;

  exchange.signal.addEventListener('abort', () => hearing?.close());
  exchange.onMessage((message) => take(message.toString()));
  send({ type: 'session.created', session: shown() });

  function take(text: string): void {
    const read = eventSchema.safeParse(parsed(text));
    if (!read.success) {
      fail('invalid_value', `Invalid event: ${read.error.issues[0]?.message}`);
      return;
    }
    const { data } = read;
    switch (data.type) {
      case 'session.update':
        update(data.session, data.event_id);
        return;
      case 'input_audio_buffer.append':
        append(Buffer.from(data.audio, 'base64'), data.event_id);
        return;
      case 'input_audio_buffer.commit':
        commit(data.event_id);
        return;
      case 'input_audio_buffer.clear':
        hearing?.drop();
        bufferedMs = 0;
        send({ type: 'input_audio_buffer.cleared' });
    }
  }

  function update(wanted: unknown, eventId?: string): void {
    const read = updateSchema.safeParse(wanted);
    if (!read.success) {
      const [issue] = read.error.issues;
      fail('invalid_value', `Invalid 'session.${issue?.path.join('.')}': ${issue?.message}`, eventId);
      return;
    }
    session = read.data;
    hearing ??= listen(read.data);
    send({ type: 'session.updated', session: shown() });
  }

  function listen({ audio }: Session): Hearing {
    // Its ears hear 8 kHz: of three samples of PCM they get one.
    const isMulaw = audio.input.format.type === 'audio/pcmu';
    const format: SoundFormat = { encoding: isMulaw ? 'mulaw' : 'linear16', rateHz: 8000 };
    const own = new Hearing(recogniser, format, {
      onset() {},
      frame() {
        if (own.silenceMs === 0 && !own.hasStretch) own.open(phrases(), { partial: tellWords });
      },
      warning: (message) => exchange.note('warning', { message }),
    });
    return own;
  }

  function append(sound: Buffer, eventId?: string): void {
    if (session === null || hearing === null) {
      fail('invalid_request', 'The session has no transcription.', eventId);
      return;
    }
    const isMulaw = session.audio.input.format.type === 'audio/pcmu';
    bufferedMs += sound.length / (isMulaw ? 8 : 48);
    hearing.push(isMulaw ? sound : thirdOf(sound), timetable.nowMs());
  }

  function commit(eventId?: string): void {
    if (bufferedMs < LEAST_COMMIT_MS) {
      const has = bufferedMs.toFixed(2);
      const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${has}ms of audio.`;
      fail('input_audio_buffer_commit_empty', message, eventId);
      return;
    }
    const done = { ...item, ms: bufferedMs };
    item = { id: newId('item'), ms: 0, told: [] };
    bufferedMs = 0;
    send({ type: 'input_audio_buffer.committed', item_id: done.id, previous_item_id: previousId });
    previousId = done.id;
    const dueAtMs = timetable.nowMs() + timing.completedMs;
    if (hearing?.hasStretch === true) hearing.finish((words) => complete(done, words, dueAtMs));
    else complete(done, [], dueAtMs);
  }

  function complete(done: Item, words: readonly TimedWord[], dueAtMs: number): void {
    const written = spelled(words);
    const of = { item_id: done.id, content_index: 0 };
    timetable.at(dueAtMs, () => {
      for (const word of written.slice(done.told.length)) send({ type: `${TOLD}.delta`, ...of, delta: `${word} ` });
      const usage = { type: 'duration', seconds: done.ms / 1_000 };
      send({ type: `${TOLD}.completed`, ...of, transcript: written.join(' '), usage });
    });
  }

  /** The last word may be another yet. */
  function tellWords(words: readonly TimedWord[]): void {
    if (session === null || !TELLS_AT_ONCE.test(session.audio.input.transcription.model)) return;
    const written = spelled(words).slice(0, -1);
    const isLonger = written.length > item.told.length && item.told.every((word, i) => word === written[i]);
    if (!isLonger) return;
    const { id, told } = item;
    for (const word of written.slice(told.length)) {
      told.push(word);
      timetable.after(timing.deltaMs, () =>
        send({ type: `${TOLD}.delta`, item_id: id, content_index: 0, delta: `${word} ` }),
      );
    }
  }

  function phrases(): string[] {
    return [...options.vocabulary, ...(session?.audio.input.transcription.keywords ?? [])];
  }

  function spelled(words: readonly TimedWord[]): string[] {
    return writtenWords(words, phrases()).map(({ written }) => written);
  }

  function shown(): object {
    return {
      object: 'realtime.transcription_session',
      id: sessionId,
      expires_at: expiresAt,
      ...(session ?? { type: 'transcription' }),
    };
  }

  function fail(code: string, message: string, eventId?: string): void {
    send({
      type: 'error',
      error: { type: 'invalid_request_error', code, message, param: null, event_id: eventId ?? null },
    });
  }

  function send(event: object): void {
    exchange.send({ event_id: newId('event'), ...event });
  }
}

function newId(kind: string): string {
  return `${kind}_${randomBytes(12).toString('hex')}`;
}

/** One sample of three of PCM, the mean of them. */
function thirdOf(sound: Buffer): Buffer {
  const third = Buffer.alloc(Math.floor(sound.length / 6) * 2);
  for (let i = 0; i < third.length / 2; i++) {
    const sum = sound.readInt16LE(6 * i) + sound.readInt16LE(6 * i + 2) + sound.readInt16LE(6 * i + 4);
    third.writeInt16LE(Math.round(sum / 3), 2 * i);
  }
  return third;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
