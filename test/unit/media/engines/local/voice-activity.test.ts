import { expect, it } from 'vitest';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { loadVoiceActivity } from '../../../../../media/engines/local/voice-activity.ts';
import { describeVoiceActivity } from '../voice-activity-conformance.ts';

describeVoiceActivity('The voice gate', await loadFliteVoice(), async () => ({
  create: await loadVoiceActivity(),
}));

it('refuses a rate of 44,100 Hz, naming the rates that there are', async () => {
  const create = await loadVoiceActivity();
  expect(() => create(44100)).toThrow(/8000, 16000, 32000 or 48000/);
});

it('gives memory back: 100,000 gates made and closed one after the other take less than 30 MB', async () => {
  const create = await loadVoiceActivity();
  create(16000).close();
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 100_000; i++) create(16000).close();
  expect(process.memoryUsage().rss - before).toBeLessThan(30e6);
});
