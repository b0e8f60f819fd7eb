/** What a visitor says, as samples: the embedded voice, at the rate of a client's microphone. For tests and benches. */
import { createResampler } from '../../media/audio/resampler.ts';
import { loadFliteVoice } from '../../media/engines/local/flite-voice.ts';

const VOICE_RATE_HZ = 16000;
const AFTER_MS = 200;

export type VisitorVoice = (text: string, rateHz: number) => Promise<Int16Array>;

export async function loadVisitorVoice(voice = 'slt'): Promise<VisitorVoice> {
  const flite = await loadFliteVoice();
  return async (text, rateHz) => {
    const spoken = flite.speak({ text, voice, isFirst: true, end: 'sentence' });
    const padded = new Int16Array(spoken.length + (VOICE_RATE_HZ * AFTER_MS) / 1000);
    padded.set(spoken);
    if (rateHz === VOICE_RATE_HZ) return padded;
    const resampler = await createResampler(VOICE_RATE_HZ, rateHz);
    const samples = resampler.process(padded).slice();
    resampler.close();
    return samples;
  };
}
