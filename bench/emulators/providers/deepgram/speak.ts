/**
 * One socket of `/v1/speak` (Aura) or `/v2/speak` (Flux): text comes in pieces, `Flush` has it spoken, and its sound
 * leaves in bare binary messages up to a message that ends it. `Clear` and `Interrupt` call off what is being said; a
 * piece that was on its way leaves all the same. Made by the emulator once an upgrade.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { SocketExchange } from '../provider.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import { bytesPerMs, type SoundFormat } from '../voice/sound-format.ts';
import { QueryFault, readNumber } from './query.ts';

export interface SpeakSettings {
  isFlux: boolean;
  model: string;
  /** Flite's. */
  voice: string;
  speed: number;
  format: SoundFormat;
}

export interface SpeakLatencies {
  /** From the flush to the first sound. */
  firstAudioMs: number;
  /** Of sound in one message. */
  chunkMs: number;
  /** Between messages. */
  chunkEveryMs: number;
}

export interface SpeakOptions {
  settings: SpeakSettings;
  voice: EmulatedVoice;
  latencies: SpeakLatencies;
  requestId: string;
}

const VOICES: Readonly<Record<string, string>> = {
  'aura-2-thalia-en': 'slt',
  'aura-2-apollo-en': 'rms',
  'aura-emulated-robot-en': 'kal16',
  'flux-emulated-en': 'slt',
  'flux-emulated-robot-en': 'kal16',
};
const CODECS: Readonly<Record<string, SoundFormat['codec']>> = { linear16: 'pcm_s16le', mulaw: 'mulaw', alaw: 'alaw' };
const RATES_HZ = [8_000, 16_000, 24_000, 32_000, 48_000];
const SPEED = { least: 0.5, most: 1.5 };
/** Of Aura: so many in a minute, and so much text in a message. */
const MOST_FLUSHES = 20;
const MINUTE_MS = 60_000;
const MOST_CHARS = 2_000;

const commandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Speak'), text: z.string() }),
  z.object({ type: z.literal('Flush') }),
  z.object({ type: z.literal('Clear') }),
  z.object({ type: z.literal('Interrupt') }),
  z.object({ type: z.literal('Configure'), speed: z.number().optional() }),
  z.object({ type: z.literal('Close') }),
]);

export function readSpeak(query: URLSearchParams, isFlux: boolean): SpeakSettings {
  const model = query.get('model') ?? (isFlux ? '' : 'aura-2-thalia-en');
  const voice = VOICES[model];
  if (voice === undefined || model.startsWith('flux-') !== isFlux) throw new QueryFault(`No such model: ${model}.`);
  const codec = CODECS[query.get('encoding') ?? 'linear16'];
  const rateHz = Number(query.get('sample_rate') ?? (codec === 'pcm_s16le' ? 24_000 : 8_000));
  if (codec === undefined || !RATES_HZ.includes(rateHz)) throw new QueryFault('Unsupported audio format.');
  const speed = readNumber(query, 'speed', SPEED.least, SPEED.most) ?? 1;
  return { isFlux, model, voice, speed, format: { codec, rateHz } };
}

interface Turn {
  id: string;
  text: string;
  /** Of sound that has left. */
  saidMs: number;
  isCalledOff: boolean;
}

const NO_CONTROLS = { pronunciations_applied: 0, breaks_applied: 0, pronunciation_warnings: 0 };
const MODEL_VERSION = '2026-08-01.0';
const MODEL_UUID = '00000000-0000-4000-8000-000000000002';

export function openSpeak(socket: SocketExchange, { settings, voice, latencies, requestId }: SpeakOptions): void {
  const { isFlux, format } = settings;
  const { timetable } = socket;
  let text = '';
  let sequence = 0;
  let { speed } = settings;
  const total = { audioMs: 0, chars: 0 };
  let flushedAtMs: number[] = [];
  /** Said one after another; the first is being said. */
  let turns: Turn[] = [];
  let last: Promise<void> = Promise.resolve();

  const model = { model_name: settings.model, model_version: MODEL_VERSION };
  if (isFlux) socket.send({ type: 'Connected', request_id: requestId, ...model, model_uuids: [MODEL_UUID] });
  else socket.send({ type: 'Metadata', request_id: requestId, ...model, model_uuid: MODEL_UUID });
  socket.onMessage((message) => {
    const read = commandSchema.safeParse(parsed(message.toString()));
    if (!read.success) fail('DATA-0000', 'The message is no command.');
    else take(read.data);
  });

  function take(command: z.output<typeof commandSchema>): void {
    switch (command.type) {
      case 'Speak':
        if (command.text.length > MOST_CHARS) fail('DATA-0001', 'A message has too many characters.');
        else text += command.text;
        return;
      case 'Flush':
        flush();
        return;
      case 'Close':
        last = last.then(end);
        return;
      case 'Configure':
        if (isFlux) configure(command.speed);
        else fail('DATA-0000', 'Configure is not known here.');
        return;
      default:
        if ((command.type === 'Interrupt') === isFlux) callOff();
        else fail('DATA-0000', `${command.type} is not known here.`);
    }
  }

  function flush(): void {
    const nowMs = timetable.nowMs();
    flushedAtMs = flushedAtMs.filter((atMs) => nowMs - atMs < MINUTE_MS);
    if (!isFlux && flushedAtMs.length >= MOST_FLUSHES) {
      socket.send({ type: 'Warning', code: 'EXCESSIVE_FLUSH', description: 'Too many Flush messages in a minute.' });
      return;
    }
    flushedAtMs.push(nowMs);
    total.chars += text.length;
    const turn = { id: `dg_sp_${randomBytes(6).toString('hex')}`, text, saidMs: 0, isCalledOff: false };
    text = '';
    turns.push(turn);
    last = last.then(() => say(turn));
  }

  function callOff(): void {
    const [current] = turns;
    if (isFlux && (current === undefined || current.saidMs === 0)) {
      warn(current === undefined ? 'NO_ACTIVE_SPEECH' : 'NO_AUDIO_GENERATED');
      return;
    }
    for (const turn of turns) turn.isCalledOff = true;
    turns = [];
    text = '';
    // What was on its way is there before.
    timetable.after(latencies.chunkEveryMs, () => {
      if (!isFlux || current === undefined) socket.send({ type: 'Cleared', sequence_id: sequence++ });
      else {
        const audio_played_ms = Math.round(current.saidMs);
        socket.send({ type: 'SpeechInterrupted', audio_played_ms, metadata: metadataOf(current) });
      }
    });
  }

  async function say(turn: Turn): Promise<void> {
    const dueAtMs = timetable.nowMs() + latencies.firstAudioMs;
    const speech = await voice.speak({ text: turn.text, voice: settings.voice, speed, format });
    if (turn.isCalledOff) return;
    if (isFlux) timetable.at(dueAtMs, () => socket.send({ type: 'SpeechStarted', speech_id: turn.id }));
    const step = Math.round(latencies.chunkMs * bytesPerMs(format)) & ~1;
    for (let at = 0, i = 0; at < speech.bytes.length && !turn.isCalledOff; at += step, i++) {
      const piece = speech.bytes.subarray(at, at + step);
      await new Promise<void>((resolve) => timetable.at(dueAtMs + i * latencies.chunkEveryMs, resolve));
      turn.saidMs += piece.length / bytesPerMs(format);
      total.audioMs += piece.length / bytesPerMs(format);
      socket.send(piece);
    }
    if (turn.isCalledOff) return;
    turns = turns.filter((one) => one !== turn);
    if (!isFlux) socket.send({ type: 'Flushed', sequence_id: sequence++ });
    else {
      socket.send({ type: 'SpeechMetadata', ...metadataOf(turn) });
      socket.send({ type: 'Flushed', speech_id: turn.id });
    }
  }

  function metadataOf({ id, text: said, saidMs }: Turn): object {
    return {
      speech_id: id,
      audio_duration_ms: Math.round(saidMs),
      input_character_count: said.length,
      billable_character_count: said.length,
      controls_applied: NO_CONTROLS,
    };
  }

  function configure(wanted: number | undefined): void {
    if (wanted === undefined || (wanted >= SPEED.least && wanted <= SPEED.most)) {
      speed = wanted ?? speed;
      socket.send({ type: 'ConfigureSuccess', applied: wanted === undefined ? {} : { speed } });
      return;
    }
    const description = `speed must be between ${SPEED.least} and ${SPEED.most}.`;
    socket.send({ type: 'ConfigureFailure', code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: wanted, description });
  }

  function end(): void {
    if (isFlux)
      socket.send({
        type: 'SessionMetadata',
        total_audio_duration_ms: Math.round(total.audioMs),
        total_input_character_count: total.chars,
        total_billable_character_count: total.chars,
      });
    socket.close(1000);
  }

  function warn(code: string): void {
    socket.send({ type: 'Warning', code, description: 'It was left out.' });
  }

  function fail(code: string, description: string): void {
    if (isFlux) socket.send({ type: 'Error', code, description });
    socket.close(1008, `${code}: ${description}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
