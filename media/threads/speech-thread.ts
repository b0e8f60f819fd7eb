/**
 * Worker thread of the local voice. Its parent sends `{type:'client', port}`, once a client; it posts `{type:'ready'}` when the
 * voice is warm, and serves clients that came before that too. One text at a time is made, in pieces of 5 to 100 ms.
 * Ready in 0.2 s (with four voices warm), 100 to 250 MB. See docs/decisions/embedded-engines.md.
 */

import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock } from '../contract/clock.ts';
import { LOCAL_VOICES } from '../contract/local-voices.ts';
import { loadFliteVoice } from '../engines/local/flite-voice.ts';
import { keepPieces } from '../engines/local/kept-voice.ts';
import { createSpeechScheduler } from '../engines/local/speech-scheduler.ts';
import { serveSpeechClient } from '../engines/local/speech-service.ts';
import { reportLoad } from '../engines/local/work-meter.ts';
import { withPackages } from '../engines/missing-package.ts';
import { engineOf, VOICES } from '../engines/registry.ts';

const WARM_UP_TEXT = 'Thank you for calling, how can I help you today?';

if (parentPort === null) throw new Error('speech-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const early: MessagePort[] = [];
let accept = (port: MessagePort): void => {
  early.push(port);
};
parent.on('message', (message: { type: string; port?: MessagePort }) => {
  if (message.type === 'client' && message.port !== undefined) accept(message.port);
});

const { packages } = engineOf(VOICES, 'voice engine', 'local');
const voice = await withPackages('The local voice', packages, loadFliteVoice);
// Each voice's code is compiled by the engine at its first use, which would make a first sentence late.
for (const name of LOCAL_VOICES) voice.speak({ text: WARM_UP_TEXT, voice: name, isFirst: true, end: 'text' });
voice.prepare();
const scheduler = createSpeechScheduler(keepPieces(voice), systemClock, setImmediate);
accept = (port) => serveSpeechClient(port, scheduler, systemClock);
for (const port of early) accept(port);
parent.postMessage({ type: 'ready' });
reportLoad(systemClock, scheduler, (load) => parent.postMessage(load));
