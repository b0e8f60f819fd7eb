/**
 * Worker thread of the local voice. One text at a time is made, in pieces of 5 to 100 ms. Ready in 0.2 s (with four
 * voices warm), 100 to 250 MB. See docs/decisions/embedded-engines.md. Started by `media/main.ts`.
 */
import { systemClock } from '../contract/clock.ts';
import { LOCAL_VOICES } from '../contract/local-voices.ts';
import { loadFliteVoice } from '../engines/local/flite-voice.ts';
import { keepPieces } from '../engines/local/kept-voice.ts';
import { createTtsScheduler } from '../engines/local/tts-scheduler.ts';
import { serveTtsClient } from '../engines/local/tts-service.ts';
import { withPackages } from '../engines/missing-package.ts';
import { engineOf, VOICES } from '../engines/registry.ts';
import { runEngineThread } from './engine-thread.ts';

const WARM_UP_TEXT = 'Thank you for calling, how can I help you today?';

await runEngineThread(
  'tts-thread',
  async () => {
    const { packages } = engineOf(VOICES, 'voice engine', 'local');
    const voice = await withPackages('The local voice', packages, loadFliteVoice);
    // Each voice's code is compiled by the engine at its first use, which would make a first sentence late.
    for (const name of LOCAL_VOICES) voice.speak({ text: WARM_UP_TEXT, voice: name, isFirst: true, end: 'text' });
    voice.prepare();
    return createTtsScheduler(keepPieces(voice), systemClock, setImmediate);
  },
  (port, scheduler) => serveTtsClient(port, scheduler, systemClock),
);
