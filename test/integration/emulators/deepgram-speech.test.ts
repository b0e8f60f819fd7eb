/** The official Deepgram client takes the emulator's voices for the service's: Aura and Flux, over their sockets. */
import type { Deepgram } from '@deepgram/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type DeepgramEmulator,
  startDeepgramEmulator,
} from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import { type EmulatedVoice, startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { eventually } from '../../support/eventually.ts';
import { deepgramClient, type Heard, KEY, listenTo, opened, PHONE } from './deepgram-kit.ts';

type AuraMessage =
  | Blob
  | Deepgram.speak.SpeakV1Metadata
  | Deepgram.speak.SpeakV1Flushed
  | Deepgram.speak.SpeakV1Cleared
  | Deepgram.speak.SpeakV1Warning;
type FluxMessage =
  | Blob
  | Deepgram.speak.SpeakV2Connected
  | Deepgram.speak.SpeakV2SpeechStarted
  | Deepgram.speak.SpeakV2SpeechMetadata
  | Deepgram.speak.SpeakV2SpeechInterrupted
  | Deepgram.speak.SpeakV2Flushed
  | Deepgram.speak.SpeakV2SessionMetadata
  | Deepgram.speak.SpeakV2ConfigureSuccess
  | Deepgram.speak.SpeakV2ConfigureFailure
  | Deepgram.speak.SpeakV2Warning
  | Deepgram.speak.SpeakV2Error;

const LINE = 'There is a table for two on Friday.';
const LONG = 'We are open every day from noon to eleven in the evening, and on Sundays a little longer than that.';

let emulator: DeepgramEmulator;
let voice: EmulatedVoice;
const closers: (() => void)[] = [];
beforeAll(async () => {
  voice = await startEmulatedVoice();
  const speakLatencies = { firstAudioMs: 5, chunkMs: 100, chunkEveryMs: 5 };
  emulator = await startDeepgramEmulator({ keys: [KEY], vocabulary: [], voice, speakLatencies });
});
afterAll(async () => {
  await emulator.close();
  await voice.close();
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function aura(options: object = {}, key = KEY) {
  const model = 'aura-emulated-robot-en';
  const socket = await deepgramClient(emulator, key).speak.v1.connect({
    ...PHONE,
    model,
    reconnectAttempts: 0,
    ...options,
  } as never);
  const heard = listenTo<AuraMessage>(socket as never);
  closers.push(() => socket.close());
  return { socket, heard, isOpen: await opened(socket as never, heard) };
}

async function flux(options: object = {}) {
  const model = 'flux-emulated-robot-en';
  const socket = await deepgramClient(emulator).speak.v2.connect({
    ...PHONE,
    model,
    reconnectAttempts: 0,
    ...options,
  } as never);
  const heard = listenTo<FluxMessage>(socket as never);
  closers.push(() => socket.close());
  return { socket, heard, isOpen: await opened(socket as never, heard) };
}

/** Their kinds, in order; sound is one for all of its messages. */
const kindsOf = ({ messages }: Heard<AuraMessage | FluxMessage>): string[] =>
  messages
    .map((message) => (message instanceof Blob ? 'sound' : message.type))
    .filter((kind, i, all) => kind !== 'sound' || all[i - 1] !== 'sound');
const msOf = ({ messages }: Heard<AuraMessage | FluxMessage>): number =>
  messages.reduce((sum, message) => sum + (message instanceof Blob ? message.size / 8 : 0), 0);
const saidOf = <Kind extends string>(heard: Heard<AuraMessage | FluxMessage>, kind: Kind) =>
  heard.messages.filter((message) => !(message instanceof Blob) && message.type === kind) as Extract<
    Exclude<AuraMessage | FluxMessage, Blob>,
    { type: Kind }
  >[];
const until = (heard: Heard<AuraMessage | FluxMessage>, kind: string, times = 1) =>
  eventually(kind, () => kindsOf(heard).filter((one) => one === kind).length >= times);

describe('Aura', () => {
  it('speaks what came in pieces when it is flushed, says where that ends, and ends when it is told to', async () => {
    const { socket, heard } = await aura();
    socket.sendText({ type: 'Speak', text: LINE.slice(0, 12) });
    socket.sendText({ type: 'Speak', text: LINE.slice(12) });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Flushed');
    const whole = msOf(heard);
    expect(whole).toBeGreaterThan(1_000);
    socket.sendText({ type: 'Speak', text: LINE });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Flushed', 2);
    expect(msOf(heard)).toBe(2 * whole);
    expect(kindsOf(heard)).toEqual(['Metadata', 'sound', 'Flushed', 'sound', 'Flushed']);
    expect(saidOf(heard, 'Metadata')).toMatchObject([
      {
        request_id: expect.any(String),
        model_name: 'aura-emulated-robot-en',
        model_version: expect.any(String),
        model_uuid: expect.any(String),
      },
    ]);
    const flushed = saidOf(heard, 'Flushed') as object[] as Deepgram.speak.SpeakV1Flushed[];
    expect(flushed.map(({ sequence_id: id }) => id)).toEqual([0, 1]);
    socket.sendClose({ type: 'Close' });
    await eventually('its end', () => heard.closed !== null);
    expect(heard.closed?.code).toBe(1000);
  });

  it('stops what is cleared, and says so', async () => {
    const { socket, heard } = await aura();
    socket.sendText({ type: 'Speak', text: LONG });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'sound');
    socket.sendClear({ type: 'Clear' });
    await until(heard, 'Cleared');
    const cleared = msOf(heard);
    socket.sendText({ type: 'Speak', text: 'Yes.' });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Flushed');
    expect(kindsOf(heard).filter((kind) => kind !== 'sound')).toEqual(['Metadata', 'Cleared', 'Flushed']);
    expect(msOf(heard)).toBeGreaterThan(cleared);
  });

  it('warns at the twenty-first flush of a minute, and speaks on', async () => {
    const { socket, heard } = await aura();
    for (let i = 0; i < 21; i++) socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Warning');
    expect(saidOf(heard, 'Warning')).toMatchObject([{ code: 'EXCESSIVE_FLUSH', description: expect.any(String) }]);
    expect(heard.closed).toBeNull();
  });

  it.each([
    ['a wrong key', {}, 'wrong'],
    ['a voice that there is not', { model: 'aura-2-nobody-en' }, KEY],
    ['a voice of Flux', { model: 'flux-emulated-en' }, KEY],
  ])('refuses %s', async (_what, options, key) => {
    expect((await aura(options, key)).isOpen).toBe(false);
  });
});

describe('Flux', () => {
  it('frames each turn, counts it, and sums up at its end', async () => {
    const { socket, heard } = await flux();
    for (const text of [LINE, 'Yes.']) {
      socket.sendSpeak({ type: 'Speak', text });
      socket.sendFlush({ type: 'Flush' });
    }
    socket.sendClose({ type: 'Close' });
    await eventually('its end', () => heard.closed !== null);
    const turn = ['SpeechStarted', 'sound', 'SpeechMetadata', 'Flushed'];
    expect(kindsOf(heard)).toEqual(['Connected', ...turn, ...turn, 'SessionMetadata']);
    expect(saidOf(heard, 'Connected')).toMatchObject([
      { request_id: expect.any(String), model_version: expect.any(String), model_uuids: [expect.any(String)] },
    ]);
    const [first, second] = saidOf(heard, 'SpeechMetadata');
    expect(saidOf(heard, 'SpeechStarted').map(({ speech_id: id }) => id)).toEqual([
      first!.speech_id,
      second!.speech_id,
    ]);
    expect(first).toMatchObject({
      speech_id: expect.stringMatching(/^dg_sp_/),
      input_character_count: LINE.length,
      controls_applied: { pronunciations_applied: 0, breaks_applied: 0, pronunciation_warnings: 0 },
    });
    const [{ total_audio_duration_ms: totalMs, ...totals }] = saidOf(heard, 'SessionMetadata') as [
      Deepgram.speak.SpeakV2SessionMetadata,
    ];
    expect(totals).toMatchObject({ total_input_character_count: LINE.length + 4 });
    expect(Math.abs(totalMs - msOf(heard))).toBeLessThan(2);
    expect(Math.abs(first!.audio_duration_ms + second!.audio_duration_ms - totalMs)).toBeLessThan(3);
  });

  it('is interrupted, says how much of it was said, and warns where there is nothing to interrupt', async () => {
    const { socket, heard } = await flux();
    socket.sendInterrupt({ type: 'Interrupt' });
    await until(heard, 'Warning');
    expect(saidOf(heard, 'Warning')).toMatchObject([{ code: 'NO_ACTIVE_SPEECH' }]);
    socket.sendSpeak({ type: 'Speak', text: LONG });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'sound');
    socket.sendInterrupt({ type: 'Interrupt' });
    await until(heard, 'SpeechInterrupted');
    const [interrupted] = saidOf(heard, 'SpeechInterrupted');
    const [started] = saidOf(heard, 'SpeechStarted');
    expect(interrupted).toMatchObject({
      metadata: { speech_id: started!.speech_id, input_character_count: LONG.length },
    });
    expect(interrupted!.audio_played_ms).toBeGreaterThan(0);
    expect(kindsOf(heard)).not.toContain('SpeechMetadata');
  });

  it('takes another pace on the way, and refuses one that is none', async () => {
    const { socket, heard } = await flux();
    socket.sendSpeak({ type: 'Speak', text: LINE });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Flushed');
    socket.sendConfigure({ type: 'Configure', speed: 1.5 });
    await until(heard, 'ConfigureSuccess');
    expect(saidOf(heard, 'ConfigureSuccess')).toMatchObject([{ applied: { speed: 1.5 } }]);
    socket.sendSpeak({ type: 'Speak', text: LINE });
    socket.sendFlush({ type: 'Flush' });
    await until(heard, 'Flushed', 2);
    const [slow, quick] = saidOf(heard, 'SpeechMetadata');
    expect(quick!.audio_duration_ms).toBeLessThan(0.8 * slow!.audio_duration_ms);
    socket.sendConfigure({ type: 'Configure', speed: 3 });
    await until(heard, 'ConfigureFailure');
    expect(saidOf(heard, 'ConfigureFailure')).toMatchObject([{ code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: 3 }]);
  });

  it('refuses a voice of Aura', async () => {
    expect((await flux({ model: 'aura-2-thalia-en' })).isOpen).toBe(false);
  });
});
