/**
 * A callee of the emulator in its own process, with the local engines: it hears the agent's
 * sound and answers in its own voice.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmulatorEvent } from '../../bench/emulators/emulator-event.ts';
import { encodeMulaw } from '../../media/audio/g711.ts';
import { createResampler } from '../../media/audio/resampler.ts';
import { FLITE_RATE_HZ, type FliteVoice, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayFake, type MediaSocketFake, startGatewayFake } from '../unit/bench/emulators/gateway-fake.ts';

const MAIN = new URL('../../dist/bench/emulators/main.js', import.meta.url).pathname;
const PERSONAS = new URL('../../bench/emulators/personas/demo.json', import.meta.url).pathname;
const CREDENTIALS = { authId: 'MATEST', authToken: 'token' };

let child: ChildProcess;
let apiBase = '';
let gateway: GatewayFake;
let agentVoice: FliteVoice;
const events: (EmulatorEvent | { event: 'listening'; apiBase: string })[] = [];

beforeAll(async () => {
  gateway = await startGatewayFake();
  agentVoice = await loadFliteVoice();
  const args = ['--auth-id', CREDENTIALS.authId, '--auth-token', CREDENTIALS.authToken, '--personas', PERSONAS];
  child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout! }).on('line', (line) => events.push(JSON.parse(line)));
  const listening = await until(() => events.find((event) => event.event === 'listening'), 'the emulator to listen');
  apiBase = 'apiBase' in listening ? listening.apiBase : '';
});

afterAll(async () => {
  child.kill('SIGKILL');
  await gateway.close();
});

const until = <Found>(find: () => Found, what: string) =>
  eventually(what, find, { story: () => JSON.stringify(events) });

/** Hands a whole line to the carrier, which plays it in real time. */
async function agentSays(socket: MediaSocketFake, text: string): Promise<void> {
  const speech = agentVoice.speak({ text, voice: 'rms', isFirst: true, end: 'text' });
  const resampler = await createResampler(FLITE_RATE_HZ, 8_000);
  const samples = Int16Array.from([...resampler.process(speech), ...resampler.flush()]);
  resampler.close();
  const mulaw = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, mulaw, 0);
  for (let at = 0; at < mulaw.length; at += 8_000) {
    const payload = Buffer.from(mulaw.subarray(at, at + 8_000)).toString('base64');
    socket.send({ event: 'playAudio', media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload } });
  }
}

interface AnswerTruth {
  said: { startAtEpochMs: number }[];
  lastAgentSampleAtEpochMs: number;
}

const truthOf = async <Truth>(uuid: string): Promise<Truth> =>
  (await (await fetch(`${apiBase}/emulator/calls/${uuid}`)).json()) as Truth;

const saidOf = (count: number) => {
  const said = events.filter((event) => event.event === 'said');
  return said.length >= count ? said[count - 1] : undefined;
};

describe('the demo persona', () => {
  test('answers a question after it, interrupts a long explanation, and asks where to park', async () => {
    const placed = await fetch(`${apiBase}/v1/Account/${CREDENTIALS.authId}/Call/`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${CREDENTIALS.authId}:${CREDENTIALS.authToken}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ from: '14155550100', to: '14155550123', answer_url: `${gateway.base}/answer` }),
    });
    const { request_uuid: uuid } = (await placed.json()) as { request_uuid: string };
    const socket = await gateway.nextSocket();
    const { streamId } = await socket.next('media');

    await agentSays(
      socket,
      'Hello Dana, this is Paul from River Dental. Can you still come at three in the afternoon?',
    );
    socket.send({ event: 'checkpoint', streamId, name: 'asked' });
    await socket.next('playedStream');
    expect(await until(() => saidOf(1), 'the first answer')).toMatchObject({ text: 'yes please', interrupting: false });
    // By the carrier's own times: what it sends comes by two ways, and on a busy machine the one overtakes the other.
    const { said, lastAgentSampleAtEpochMs: askedUntil } = await truthOf<AnswerTruth>(uuid);
    expect(said).toHaveLength(1);
    expect(said[0]!.startAtEpochMs).toBeGreaterThan(askedUntil);
    await until(() => socket.received.find(({ message }) => isLoud(message)), 'the sound of the answer');

    await agentSays(
      socket,
      'Please arrive ten minutes early and bring your insurance card. You will find us on the second floor, next to the elevator. ' +
        'Water and coffee are free in the waiting room. If you need to cancel, please call us one day before. ' +
        // A callee on a busy machine makes up its mind some seconds later: there is still something to cut off.
        'Our doctors speak many languages, and our rooms can be reached without a single step. Children are welcome at any time, ' +
        'and there is a playground behind the house. We look forward to seeing you, and wish you a good day until then.',
    );
    expect(await until(() => saidOf(2), 'the interruption')).toMatchObject({
      text: 'where can i park',
      interrupting: true,
    });
    socket.send({ event: 'clearAudio', streamId });
    await socket.next('clearedAudio');

    const truth = await truthOf<Record<string, unknown[]>>(uuid);
    expect(truth['heard']).toMatchObject([{ understood: true }, { understood: true }]);
    expect(truth['clears']).toHaveLength(1);
    expect((truth['clears']![0] as { droppedMs: number }).droppedMs).toBeGreaterThan(2_000);
    expect(truth['protocolFaults']).toEqual([]);
  });
});

function isLoud(message: Record<string, unknown>): boolean {
  if (message['event'] !== 'media') return false;
  const { payload } = message['media'] as { payload: string };
  return Buffer.from(payload, 'base64').some((byte) => (~byte & 0x7f) > 0x40);
}
