/**
 * Clips of every kind, heard at the other end of a call: sent to the API as files, played where the agent would speak,
 * and understood by the callee's recogniser, which answers each of them.
 */
import { beforeAll, expect, test } from 'vitest';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import type { ScriptedStep } from '../../../media/contract/agent-definition.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { byFfmpeg, hasFfmpeg, oggOpusOf, speechOf, wavOf, webmOpusOf } from '../../support/clip-files.ts';
import { CALLEE_STAYS_MS, PATIENT_IDLE } from './first-call.ts';

const NUMBER = '+14155550125';

interface Spoken {
  name: string;
  text: string;
  hears: string[];
  says: string;
  file(samples: Int16Array): Buffer;
}

const SPOKEN: Spoken[] = [
  {
    name: 'ogg',
    text: 'Which other day would suit you?',
    hears: ['which other day'],
    says: 'on thursday',
    file: oggOpusOf,
  },
  {
    name: 'webm',
    text: 'Can you still come at three in the afternoon?',
    hears: ['three in the afternoon', 'can you still come'],
    says: 'yes please',
    file: webmOpusOf,
  },
  {
    name: 'wav',
    text: 'Please bring your insurance card to the second floor.',
    hears: ['insurance card', 'second floor'],
    says: 'where can i park',
    file: (samples) => wavOf(samples),
  },
  ...(hasFfmpeg
    ? [
        {
          name: 'mp3',
          text: 'Behind the building. Do you have another question?',
          hears: ['behind the building', 'another question'],
          says: 'no thank you goodbye',
          file: (samples: Int16Array) => byFfmpeg(wavOf(samples), '-f', 'mp3'),
        },
      ]
    : []),
];

export const clipsCallee: PersonaInput = {
  kind: 'speaking',
  name: 'Dana',
  number: NUMBER,
  ringMs: 500,
  voice: 'slt',
  listens: SPOKEN.map(({ hears, says }) => ({ hears, says, afterMs: 500 })),
  hangsUpAfterSilenceMs: CALLEE_STAYS_MS,
};

/** `stage`: the gateway; there once `beforeAll` is through. */
export function testClips(stage: () => Gateway): void {
  let gateway: Gateway;
  let key = '';

  beforeAll(async () => {
    gateway = stage();
    const database = openPatientDatabase(gateway.service.databaseUrl);
    const scopes = ['settings:write', 'settings:read'];
    key = (await createApiKey(database, { slug: gateway.enterprise, name: 'clips', scopes })).text;
    await database.close();
  });

  async function send(path: string, body: string | FormData, headers: Record<string, string> = {}) {
    const url = `${gateway.service.publicUrl}/api/developer/${path}`;
    const answer = await fetch(url, { method: 'POST', body, headers: { authorization: `Bearer ${key}`, ...headers } });
    return { status: answer.status, body: (await answer.json()) as Record<string, { id: string }> };
  }

  test('a clip of each kind is played to a callee whose recogniser understands it, and its text is in the transcript', async () => {
    for (const { name, text, file } of SPOKEN) {
      const form = new FormData();
      form.set('name', name);
      form.set('text', text);
      form.set('file', new Blob([new Uint8Array(file(await speechOf(text, 'rms')))]), 'sound');
      const { status, body } = await send('clips', form);
      expect(`${status} ${JSON.stringify(body)}`).toContain('201');
    }
    const steps = SPOKEN.map(
      ({ name, says }, index): ScriptedStep => ({
        id: name,
        say: { clip: name },
        expect: 'open',
        replies: [{ intent: `after_${name}`, phrases: [says], goto: SPOKEN[index + 1]?.name ?? 'bye' }],
      }),
    );
    const definition = {
      kind: 'scripted',
      name: 'Clips',
      direction: 'any',
      language: 'en-US',
      voice: 'rms',
      script: 'Play clips.',
      greeting: 'Hello.',
      steps: [...steps, { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } }],
      fallback: { say: ['Sorry?'], after: 3, goto: 'bye' },
      idle: { ...PATIENT_IDLE, say: [] },
    };
    const agent = await send('agents', JSON.stringify({ definition }), { 'content-type': 'application/json' });
    expect(agent.status, JSON.stringify(agent.body)).toBe(201);

    const placed = await gateway.client.place({
      to: NUMBER,
      agentId: agent.body['agent']!.id,
      enterprise: gateway.enterprise,
      from: gateway.lineId,
      name: 'Dana',
    });
    expect(placed.httpStatus).toBe(200);
    const entry = await gateway.client.waitFor(
      placed.body.callUuid!,
      'the end',
      ({ status }) => status === 'completed' || status === 'failed',
    );
    const emulated = (await gateway.emulator.calls()).find((call) => call.to.endsWith(NUMBER.slice(1)));
    expect(emulated!.heard, JSON.stringify(entry.turns)).toMatchObject(SPOKEN.map(() => ({ understood: true })));
    const agentTurns = entry.turns.filter(({ role }) => role === 'agent');
    expect(agentTurns.map(({ heardText }) => heardText)).toEqual([
      'Hello.',
      ...SPOKEN.map(({ text }) => text),
      'Goodbye.',
    ]);
    expect(entry.turns.flatMap(({ intent }) => intent ?? [])).toEqual(SPOKEN.map(({ name }) => `after_${name}`));
    expect(entry.endedReason).toBe('agent_hangup');
  });
}
