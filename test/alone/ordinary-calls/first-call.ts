/**
 * The first call, whole: the real service and the carrier emulator, audio recognised by a recogniser, nothing scripted
 * between them. What is checked here is what issue-free days look like; `many-calls.ts` has the bad ones.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ToolEndpoint } from '../../../bench/demo/tool-endpoint.ts';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import type { Call } from '../../../clients/typescript/src/client.ts';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import type { ReplyLatency, Spread } from '../../../src/calls/latency-summary.ts';
import { canDictate, dictate, heardShare } from '../../support/dictation.ts';
import { decodeRecording, resampleTo16k } from '../../support/recording-audio.ts';

const readJson = (path: string) => JSON.parse(readFileSync(new URL(`../../../bench/${path}`, import.meta.url), 'utf8'));
const demo = readJson('demo/agent.json') as ScriptedAgent;
/** A callee on a busy machine makes up its mind some seconds later: there is still something to cut off. */
const MORE_TO_EXPLAIN =
  ' Our doctors speak many languages, and our rooms can be reached without a single step. Children are welcome at any time, ' +
  'and there is a playground behind the house. We look forward to seeing you, and wish you a good day until then.';
/** Whoever is asked again and again whether he is there has more to listen to, and gets no further. */
export const PATIENT_IDLE = { promptAfterMs: 30_000, say: ['Are you still there?'], endAfterMs: 120_000 };
/** A callee on a busy machine has not hung up when it has understood. */
export const CALLEE_STAYS_MS = 120_000;
/** A busy machine begins to speak late, and what was said lies as late on the recording, or somewhat later. */
const AFTER_GREETING_MS = 3_000;
/** The demo's, but it waits longer, and what it explains is longer. */
export const patientAgent: ScriptedAgent = {
  ...demo,
  idle: PATIENT_IDLE,
  steps: demo.steps.map((step) => {
    const isLong = typeof step.say === 'string' && step.say.includes('insurance card');
    return isLong ? { ...step, say: `${step.say}${MORE_TO_EXPLAIN}` } : step;
  }),
};
const dana = (readJson('emulators/personas/demo.json') as PersonaInput[])[0]!;

/** Dana, but the first thing that she says and the answer to it are exchanged: she cannot come. */
function declining(persona: PersonaInput): PersonaInput {
  if (persona.kind !== 'speaking') throw new Error('the demo persona speaks');
  const listens = persona.listens.map((item, index) => (index === 0 ? { ...item, says: 'no i can not come' } : item));
  return {
    ...persona,
    name: 'Erin',
    number: DECLINES,
    listens: [...listens, { hears: ['which other day'], says: 'on thursday' }],
  };
}

interface Talk {
  entry: Call;
  emulated: EmulatedCall;
}

const AGREES = '+14155550123';
const DECLINES = '+14155550124';

export const demoCallees: PersonaInput[] = [dana, declining(dana)].map(
  (callee): PersonaInput => ({ ...callee, hangsUpAfterSilenceMs: CALLEE_STAYS_MS }) as PersonaInput,
);

/**
 * `stage`: the gateway, whose agent is the demo's with bookings, and the endpoint that they go to; there once
 * `beforeAll` is through.
 */
export function describeFirstCall(stage: () => { gateway: Gateway; booking: ToolEndpoint }): void {
  const talks = new Map<string, Promise<Talk>>();
  let gateway: Gateway;
  let booking: ToolEndpoint;

  beforeAll(() => {
    ({ gateway, booking } = stage());
    // Both talk at once, and are looked at one after the other.
    for (const number of [AGREES, DECLINES]) {
      const held = hold(number);
      // Whoever awaits it is told.
      held.catch(() => {});
      talks.set(number, held);
    }
  });

  async function hold(number: string): Promise<Talk> {
    const { body, httpStatus } = await gateway.client.place({
      to: number,
      agentId: gateway.agentId,
      enterprise: gateway.enterprise,
      from: gateway.lineId,
      name: 'Dana',
    });
    expect(httpStatus).toBe(200);
    const entry = await gateway.client.waitFor(
      body.callUuid!,
      'the recording',
      ({ status, recording }) => status === 'completed' && recording?.status === 'ready',
    );
    const emulated = (await gateway.emulator.calls()).find((call) => call.to.endsWith(number.slice(1)));
    return { entry, emulated: emulated! };
  }

  const isReadAndMeasured = ({ analysisStatus, latency }: Call): boolean =>
    analysisStatus === 'ready' && latency?.['method'] === 'waveform';

  const intentsOf = (entry: Call) =>
    entry.turns.filter((turn) => turn.role === 'user' && turn.intent !== undefined).map((turn) => turn.intent);

  describe('a conversation with a callee who agrees, interrupts and says goodbye', () => {
    let entry: Call;
    let emulated: EmulatedCall;

    beforeAll(async () => {
      ({ entry, emulated } = await talks.get(AGREES)!);
    });

    test('the replies were recognised from audio and chose the branch', () => {
      expect(intentsOf(entry)).toEqual(['confirmed', 'asked_parking', 'nothing_else']);
      expect(entry.endedReason).toBe('agent_hangup');
      expect(entry.hangupBy).toBe('agent');
    });

    test('the interruption cut the agent off, and the transcript holds only what was heard', () => {
      const cut = entry.turns.find((turn) => turn.role === 'agent' && turn.interrupted);
      expect(cut).toBeDefined();
      expect(cut!.text.length).toBeGreaterThan(cut!.heardText.length);
      expect(cut!.text.startsWith(cut!.heardText.trim().slice(0, 20))).toBe(true);
      expect(emulated.clears).toHaveLength(1);
      expect(entry.transcript).not.toContain('until then');
    });

    test('no agent sample was played at the far end after the clear until the next utterance began', () => {
      const clear = emulated.clears[0]!;
      expect(clear.lastAgentSampleAtEpochMs).not.toBeNull();
      expect(clear.lastAgentSampleAtEpochMs!).toBeLessThanOrEqual(clear.receivedAtEpochMs + 20);
      expect(emulated.protocolFaults).toEqual([]);
    });

    test('a visit was booked by a tool in the middle of the call: one signed request, and its answer was said', () => {
      const requests = booking.received.filter(({ body }) => body.call.callUuid === entry.callUuid);
      expect(requests).toMatchObject([{ verified: true, body: { tool: 'book_visit', arguments: { day: 'Tuesday' } } }]);
      expect(entry.transcript).toContain('You will see Doctor Lee.');
      expect(entry.tools).toMatchObject([{ name: 'book_visit', status: 200, outcome: 'ok', error: null }]);
      expect(entry.latency).toMatchObject({ toolMs: { count: 1 } });
    });

    test('the webhook came once, in time, with a good signature and the heard transcript', async () => {
      const webhook = await gateway.receiver.waitFor(({ callUuid }) => callUuid === entry.callUuid);
      expect(webhook).toMatchObject({ verified: true, event: 'call.completed' });
      expect(webhook.body['transcript']).toBe(entry.transcript);
    });

    test('it is read and told after its end, and its latency comes from the waveform, held against the stages', async () => {
      const read = await gateway.client.waitFor(entry.callUuid, 'the analysis and the waveform', isReadAndMeasured);
      expect(read).toMatchObject({ intent: 'confirmed', successful: true, analysisStatus: 'ready' });
      expect(read.summary).toContain('yes please');
      await gateway.receiver.waitFor(
        ({ callUuid, event }) => callUuid === entry.callUuid && event === 'analysis.completed',
      );
      const told = gateway.receiver.received().filter(({ callUuid }) => callUuid === entry.callUuid);
      expect(told[0]?.event).toBe('call.completed');
      expect(told.filter(({ event }) => event === 'analysis.completed')).toHaveLength(1);
      const { turns, mouthToEarMs } = read.latency as {
        turns: ReplyLatency[];
        mouthToEarMs: Spread;
      };
      // How many the waveform has a value for, and how far the two are apart, is the machine's affair where a process
      // stands still between them: a bench tells it.
      expect(mouthToEarMs.count).toBeGreaterThan(0);
      const compared = turns.filter(({ differenceMs }) => differenceMs !== null);
      expect(compared.length).toBeGreaterThan(0);
      for (const { mouthToEarMs: ms, stagesMs, differenceMs } of compared) expect(differenceMs).toBe(ms! - stagesMs!);
    });

    test('the recording holds the caller left and the agent right, as long as the far end says', async () => {
      const recording = await decodeRecording((await gateway.recording(entry.callUuid))!);
      // One counts by its clock, the other its frames: generous, for processes that stand still meanwhile.
      expect(Math.abs(recording.durationMs - emulated.recordingMs!)).toBeLessThan(10_000);
      if (!canDictate()) return;
      const greeting = String(patientAgent.greeting)
        .replace('{{customer_name}}', 'Dana')
        .replace('{{appointment_day | Tuesday}}', 'Tuesday');
      const { endMs } = entry.turns.find(({ role }) => role === 'agent')!;
      const beginning = (samples: Int16Array) =>
        resampleTo16k(samples.subarray(0, (recording.rateHz * (endMs + AFTER_GREETING_MS)) / 1000), recording.rateHz);
      const onRight = heardShare(greeting, await dictate(await beginning(recording.right)));
      const onLeft = heardShare(greeting, await dictate(await beginning(recording.left)));
      expect(onRight).toBeGreaterThanOrEqual(0.7);
      expect(onLeft).toBeLessThan(0.3);
    });
  });

  test('the same callee with another answer to the same question gets another conversation', async () => {
    const { entry } = await talks.get(DECLINES)!;
    expect(intentsOf(entry).slice(0, 2)).toEqual(['cannot_come', 'thursday']);
    // The day that was heard went to the tool, and the time that it answered was said.
    const request = booking.received.find(({ body }) => body.call.callUuid === entry.callUuid);
    expect(request).toMatchObject({ verified: true, body: { arguments: { day: 'Thursday' } } });
    expect(entry.transcript).toContain('moved you to Thursday at four');
    const read = await gateway.client.waitFor(entry.callUuid, 'the analysis', isReadAndMeasured);
    expect(read).toMatchObject({ intent: 'rescheduled', successful: true, data: { day: 'Thursday' } });
  });
}
