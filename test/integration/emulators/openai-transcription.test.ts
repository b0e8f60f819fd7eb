/** The official OpenAI client takes the emulator's live transcription for the service's, with real speech. */
import type { ClientRequest } from 'node:http';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type {
  ConversationItemInputAudioTranscriptionCompletedEvent as Completed,
  RealtimeServerEvent,
  RealtimeTranscriptionSessionCreateRequest,
} from 'openai/resources/realtime/realtime';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { startWordRecogniser, type WordRecogniser } from '../../../bench/emulators/providers/word-recogniser.ts';
import { type FliteVoice, loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { eventually } from '../../support/eventually.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';
import { silence, speak } from './deepgram-kit.ts';

const KEY = 'canary-of-a-provider';
const BOOKING = 'I would like to book a table for tomorrow evening please.';
const VOCABULARY = ['I would like to book a table', 'for tomorrow evening', 'please.'];
const LIVE = 'gpt-live-transcribe';

let endpoint: ProviderEndpoint;
let recogniser: WordRecogniser;
let voice: FliteVoice;
beforeAll(async () => {
  recogniser = await startWordRecogniser((error) => {
    throw error;
  });
  const scenario = { rules: [] };
  endpoint = await startOpenAiEmulator({ keys: [KEY], voice: null, scenario, vocabulary: VOCABULARY, recogniser });
  voice = await loadFliteVoice();
});
afterAll(async () => {
  await endpoint?.close();
  await recogniser?.close();
});
const open: OpenAIRealtimeWS[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

interface Heard {
  events: RealtimeServerEvent[];
  errors: string[];
}

async function connect(apiKey = KEY): Promise<{ line: OpenAIRealtimeWS; heard: Heard }> {
  const client = new OpenAI({ apiKey, baseURL: `${endpoint.origin}/v1` });
  // It names a model where a transcription session names its intent; the address is all that is changed of it.
  const finishRequest = (request: ClientRequest): void => {
    request.path = '/v1/realtime?intent=transcription';
    request.end();
  };
  const line = new OpenAIRealtimeWS({ model: LIVE, options: { ca: endpoint.caPem, finishRequest } }, client);
  open.push(line);
  const heard: Heard = { events: [], errors: [] };
  line.on('event', (event) => heard.events.push(event));
  line.on('error', (error) => heard.errors.push(error.message));
  await eventually('its beginning', () => heard.events.length > 0 || heard.errors.length > 0);
  return { line, heard };
}

const ofType = <Type extends RealtimeServerEvent['type']>({ events }: Heard, type: Type) =>
  events.filter((event): event is Extract<RealtimeServerEvent, { type: Type }> => event.type === type);

function session(change: object = {}, format: object = { type: 'audio/pcmu' }) {
  return {
    type: 'transcription',
    audio: { input: { format, transcription: { model: LIVE, ...change }, turn_detection: null } },
  } as unknown as RealtimeTranscriptionSessionCreateRequest;
}

async function say(line: OpenAIRealtimeWS, samples: Int16Array): Promise<void> {
  const sendMedia = (bytes: Uint8Array): void =>
    line.send({ type: 'input_audio_buffer.append', audio: Buffer.from(bytes).toString('base64') });
  await speak({ sendMedia }, samples);
}

/** `halfway`: what is waited for in the middle of it. */
async function turn(
  line: OpenAIRealtimeWS,
  heard: Heard,
  text: string,
  halfway?: () => Promise<unknown>,
): Promise<Completed> {
  const before = ofType(heard, 'conversation.item.input_audio_transcription.completed').length;
  const sound = await overTheLine(voice, text, { leadMs: 200 });
  const half = sound.length >> 1;
  await say(line, sound.subarray(0, half));
  await halfway?.();
  await say(line, sound.subarray(half));
  await say(line, silence(300));
  line.send({ type: 'input_audio_buffer.commit' });
  return eventually('its words', () => ofType(heard, 'conversation.item.input_audio_transcription.completed')[before]);
}

it('a session is made one of transcription, and each commit becomes an item that follows the one before', async () => {
  const { line, heard } = await connect();
  const [created] = ofType(heard, 'session.created');
  expect(created?.session).toMatchObject({ object: 'realtime.transcription_session', type: 'transcription' });
  line.send({ type: 'session.update', session: session({ language: 'en', keywords: ['please.'] }) });
  const updated = await eventually('the session', () => ofType(heard, 'session.updated')[0]);
  expect(updated.session).toMatchObject({
    audio: { input: { transcription: { model: LIVE, language: 'en' }, turn_detection: null } },
  });
  const aWord = () => ofType(heard, 'conversation.item.input_audio_transcription.delta')[0];
  const first = await turn(line, heard, BOOKING, () => eventually('a word on the way', aWord));
  expect(first).toMatchObject({ content_index: 0, transcript: BOOKING, usage: { type: 'duration' } });
  const second = await turn(line, heard, 'for tomorrow evening please.');
  expect(second.transcript).toBe('for tomorrow evening please.');
  const committed = ofType(heard, 'input_audio_buffer.committed');
  expect(committed).toMatchObject([
    { item_id: first.item_id, previous_item_id: null },
    { item_id: second.item_id, previous_item_id: first.item_id },
  ]);
  const deltas = ofType(heard, 'conversation.item.input_audio_transcription.delta');
  const whole = (id: string): string =>
    deltas
      .filter((delta) => delta.item_id === id)
      .map(({ delta }) => delta ?? '')
      .join('');
  // Whether a word begins a sentence is known when it is over.
  expect(whole(first.item_id).trim().toLowerCase()).toBe(BOOKING.toLowerCase());
  // It tells while somebody speaks: the first word is there before the commit is.
  expect(heard.events.indexOf(deltas[0]!)).toBeLessThan(heard.events.indexOf(committed[0]!));
  expect((first.usage as Completed.TranscriptTextUsageDuration).seconds).toBeGreaterThan(2);
  const ids = heard.events.map((event) => ('event_id' in event ? event.event_id : null));
  expect(new Set(ids).size).toBe(heard.events.length);
  expect(heard.errors).toEqual([]);
});

it('models that wait for the commit tell nothing before, and what was cleared is in no item', async () => {
  const { line, heard } = await connect();
  line.send({ type: 'session.update', session: session({ model: 'gpt-4o-mini-transcribe' }) });
  await say(line, await overTheLine(voice, 'I would like to book a table'));
  line.send({ type: 'input_audio_buffer.clear' });
  await eventually('the answer', () => ofType(heard, 'input_audio_buffer.cleared')[0]);
  const { transcript } = await turn(line, heard, 'for tomorrow evening please.');
  expect(transcript).toBe('for tomorrow evening please.');
  const deltas = ofType(heard, 'conversation.item.input_audio_transcription.delta');
  const committed = ofType(heard, 'input_audio_buffer.committed');
  expect(heard.events.indexOf(deltas[0]!)).toBeGreaterThan(heard.events.indexOf(committed[0]!));
});

it('what it does not take is an error with the event’s own id, and the session goes on', async () => {
  const { line, heard } = await connect();
  line.send({ type: 'session.update', event_id: 'mine-1', session: session({ model: 'gpt-nine' }) });
  await eventually('an error', () => heard.errors[0]);
  expect(heard.errors[0]).toMatch(/unknown model code=invalid_value .*type=invalid_request_error event_id=mine-1/);
  line.send({ type: 'session.update', session: session() });
  line.send({ type: 'input_audio_buffer.commit', event_id: 'mine-2' });
  await eventually('another', () => heard.errors[1]);
  expect(heard.errors[1]).toMatch(/buffer too small.* code=input_audio_buffer_commit_empty .*event_id=mine-2/);
  expect(ofType(heard, 'session.updated')).toHaveLength(1);
  expect(line.socket.readyState).toBe(line.socket.OPEN);
});

it('a wrong key opens nothing', async () => {
  const { heard } = await connect('wrong');
  expect(heard).toMatchObject({ events: [], errors: [expect.stringContaining('401')] });
});
