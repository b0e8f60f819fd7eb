/**
 * The agent of the overload bench: a greeting and a farewell that hold a name, which every call has rendered anew, and
 * between them questions that are the same for all. And the one who is called, as sound: short
 * answers at fixed times, rendered once.
 */
import { writeFileSync } from 'node:fs';
import { decodeMulaw } from '../../media/audio/g711.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../media/audio/wav.ts';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { startLocalEngines } from '../emulators/callees/local-engines.ts';

const RATE_HZ = 8_000;
const ANSWER = 'Yes please.';
const FIRST_ANSWER_MS = 12_000;
const ANSWER_EVERY_MS = 8_000;

const QUESTIONS = [
  'Were you seen on time, or did you have to wait for more than ten minutes in the waiting room?',
  'Did the doctor explain the treatment to you in words that were easy to understand?',
  'Would you like us to remind you of your next visit by telephone, one day before it?',
  'Would you like the plan for your treatment by mail, together with the list of prices?',
  'Is the morning still a good time for you, on a weekday between nine and eleven?',
  'Would you recommend our practice to a friend or to somebody in your family?',
];

export const surveyAgent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Paul of River Dental',
  direction: 'outbound',
  language: 'en-US',
  voice: 'rms',
  script: 'You are Paul of River Dental and ask {{customer_name}} about their visit.',
  greeting: 'Hello {{customer_name}}, this is Paul from River Dental. I have a few short questions about your visit.',
  steps: [
    ...QUESTIONS.map((say, at) => ({
      id: `question${at}`,
      say,
      expect: 'yesno' as const,
      replies: [
        { intent: 'yes', phrases: ['yes', 'yes please'], goto: next(at) },
        { intent: 'no', phrases: ['no', 'no thank you'], goto: next(at) },
      ],
    })),
    { id: 'bye', say: 'Thank you {{customer_name}}. Goodbye!', end: { reason: 'agent_hangup' as const } },
  ],
  fallback: { say: ['Sorry, was that a yes or a no?'], after: 3, goto: 'bye' },
  idle: { promptAfterMs: 10_000, say: ['Are you still there?'], endAfterMs: 60_000 },
};

function next(at: number): string {
  return at + 1 < QUESTIONS.length ? `question${at + 1}` : 'bye';
}

/** Writes 8 kHz PCM of `lengthMs`; the engines that make it are gone before a call begins. */
export async function writeCallee(path: string, lengthMs: number): Promise<void> {
  const local = await startLocalEngines((error) => {
    throw error;
  }, false);
  const answer = await local.engines.renderer.render('slt', ANSWER);
  await local.close();
  const samples = new Int16Array((lengthMs * RATE_HZ) / 1000);
  const said = new Int16Array(answer.length);
  decodeMulaw(answer, 0, answer.length, said, 0);
  for (let atMs = FIRST_ANSWER_MS; ; atMs += ANSWER_EVERY_MS) {
    const at = (atMs * RATE_HZ) / 1000;
    if (at + said.length > samples.length) break;
    samples.set(said, at);
  }
  const file = Buffer.alloc(WAV_HEADER_BYTES + samples.byteLength);
  writeWavHeader(file, { codec: 'pcm_s16le', rateHz: RATE_HZ, channels: 1, dataBytes: samples.byteLength });
  Buffer.from(samples.buffer).copy(file, WAV_HEADER_BYTES);
  writeFileSync(path, file);
}
