import { afterAll, beforeAll, it } from 'vitest';
import { type DeepgramEmulator, startDeepgramEmulator } from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import { type FliteVoice, loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';
import { deepgramClient, KEY, listenTo, opened, PHONE, silence, speak } from './deepgram-kit.ts';

let emulator: DeepgramEmulator;
let voice: FliteVoice;
const VOCABULARY = ['Yes,', 'no', 'I would like to book a table', 'for tomorrow evening', 'please.', 'Call me back next week.', 'Wait, stop.'];
beforeAll(async () => {
  [emulator, voice] = await Promise.all([startDeepgramEmulator({ keys: [KEY], vocabulary: VOCABULARY }), loadFliteVoice()]);
});
afterAll(() => emulator.close());
it('v1', async () => {
  const socket = await deepgramClient(emulator).listen.v1.connect({ ...PHONE, model: 'nova-3', interim_results: 'true', punctuate: 'true', vad_events: 'true', utterance_end_ms: '1000', endpointing: 300 } as never);
  const heard = listenTo<any>(socket as never);
  console.info(await opened(socket as never, heard));
  await speak(socket as never, await overTheLine(voice, 'Yes, I would like to book a table for tomorrow evening please.'));
  await speak(socket as never, silence(1700));
  await speak(socket as never, await overTheLine(voice, 'Strange words of the elephants under water.'));
  await speak(socket as never, silence(700));
  socket.sendCloseStream({ type: 'CloseStream' });
  await new Promise((r) => setTimeout(r, 1500));
  for (const m of heard.messages) console.info(JSON.stringify(m).slice(0, 420));
  console.info(heard.closed, heard.errors, emulator.journal.maxLatenessMs);
});
it('v2', async () => {
  const socket = await deepgramClient(emulator).listen.v2.connect({ ...PHONE, model: 'flux-general-en', eager_eot_threshold: 0.4 } as never);
  const heard = listenTo<any>(socket as never);
  console.info(await opened(socket as never, heard));
  await speak(socket as never, await overTheLine(voice, 'I would like to book a table.'));
  await speak(socket as never, silence(120));
  await speak(socket as never, (await overTheLine(voice, 'for tomorrow evening please.')).subarray(2400));
  await speak(socket as never, silence(1500));
  await speak(socket as never, await overTheLine(voice, 'Strange words of the elephants under water.'));
  await speak(socket as never, silence(700));
  await speak(socket as never, (await overTheLine(voice, 'Yes.')));
  await speak(socket as never, silence(900));
  socket.sendCloseStream({ type: 'CloseStream' });
  await new Promise((r) => setTimeout(r, 1500));
  for (const m of heard.messages) if (m.event !== 'Update' || m.transcript) console.info(JSON.stringify({...m, words: m.words?.map((w:any)=>[w.word,w.start,w.end].join())}).slice(0, 420));
  console.info(heard.messages.length, heard.closed, heard.errors, emulator.journal.maxLatenessMs);
});
