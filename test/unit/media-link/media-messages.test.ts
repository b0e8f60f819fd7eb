import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConversationEvent, Turn } from '../../../media/contract/conversation.ts';
import type { UsageLine } from '../../../media/contract/usage.ts';
import type { CallMessage } from '../../../src/media-link/media-messages.ts';
import { factsOf, keyOfRecording, toneFile, writeEncrypted } from '../../support/encrypted-recording.ts';
import { createHarness, type Harness, PUBLIC_URL } from '../lifecycle/harness.ts';
import { talkingCall } from '../lifecycle/talk.ts';

let h: Harness;
beforeAll(async () => {
  h = await createHarness();
});
afterAll(() => h.close());

const turn = (turnId: string, text: string, changes: Partial<Turn> = {}): Turn => ({
  turnId,
  role: 'agent',
  startMs: 0,
  endMs: 900,
  text,
  heardText: text,
  interrupted: false,
  ...changes,
});
const eventMessage = (callUuid: string, event: ConversationEvent, epoch = 1): CallMessage => ({
  type: 'live',
  callUuid,
  epoch,
  atEpochMs: h.clock.epochMs(),
  event,
});
const stopped = (callUuid: string, epoch = 1): CallMessage => ({
  type: 'media.stopped',
  callUuid,
  epoch,
  why: 'socket_closed',
  durationMs: 4_000,
  latencies: [
    { turnId: 't2', eouMs: 300, sttMs: 350, ttsMs: 420, agentMs: 480 },
    { turnId: 't4', eouMs: 310, sttMs: 360, ttsMs: 500, agentMs: 620 },
  ],
});
const PLAIN = toneFile(4);
/** As the recorder leaves it: a sealed file on the disk, and what it says of it. */
async function recording(callUuid: string, epoch = 1): Promise<CallMessage> {
  const path = join(h.dataDir, 'recordings', '2026-11-21', `${callUuid}.${epoch}.sealed`);
  writeEncrypted(path, await keyOfRecording(h.database, h.sealer, { callUuid, epoch }), PLAIN);
  return { type: 'recording', callUuid, epoch, recording: factsOf(path, PLAIN, 4_010), error: null };
}
async function recorded(callUuid: string, epoch = 1): Promise<void> {
  await h.messages.handle([await recording(callUuid, epoch)]);
  await h.uploader.sweep();
}
const facts = {
  format: 'ogg_opus',
  channels: 2,
  rateHz: 8_000,
  durationMs: 4_010,
  sizeBytes: PLAIN.length,
  sha256: createHash('sha256').update(PLAIN).digest('hex'),
};
const carrierEnded = (callUuid: string) =>
  h.transitions.apply(callUuid, {
    type: 'carrier.ended',
    carrierCallId: 'leg',
    end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 4 },
  });

describe('what media says of a call', () => {
  test('turns are kept by id, the last word of each counts, in the order of their numbers', async () => {
    const callUuid = await talkingCall(h);
    const told = [
      turn('t2', 'yes', { role: 'user' }),
      turn('t1', 'Hello there'),
      turn('t10', 'Bye'),
      turn('t1', 'Hello', { interrupted: true }),
    ];
    await h.messages.handle(told.map((each) => eventMessage(callUuid, { type: 'turn', turn: each })));
    const rows = await h.database.query<{ turn_id: string; position: number; turn: Turn }>(
      'SELECT turn_id, position, turn FROM call_turns WHERE call_uuid = $1 ORDER BY position',
      [callUuid],
    );
    expect(rows.map((row) => [row.turn_id, row.position, row.turn.text])).toEqual([
      ['t1', 1, 'Hello'],
      ['t2', 2, 'yes'],
      ['t10', 10, 'Bye'],
    ]);
  });

  test('events are logged in order and published; partial recognitions are shown and not stored', async () => {
    const callUuid = await talkingCall(h);
    h.published.length = 0;
    await h.messages.handle([
      eventMessage(callUuid, { type: 'first_audio', atMs: 40, answerToFirstWordMs: 180 }),
      eventMessage(callUuid, { type: 'partial', text: 'ye', atMs: 900 }),
      eventMessage(callUuid, { type: 'warning', code: 'unresolved_placeholder', message: 'x', atMs: 901 }),
    ]);
    const kinds = (await h.log(callUuid)).map((line) => line.kind);
    expect(kinds.slice(-2)).toEqual(['first_audio', 'warning']);
    expect(await h.call(callUuid)).toMatchObject({
      latency: { answerToFirstWordMs: 180 },
      warnings: ['unresolved_placeholder'],
    });
  });

  test('a placeholder without a value is one warning a key, with how often it was met; others are their code alone', async () => {
    const callUuid = await talkingCall(h);
    const met = (key: string, count: number) =>
      eventMessage(callUuid, { type: 'warning', code: 'placeholder_unresolved', message: 'x', key, count, atMs: 1 });
    const slow = eventMessage(callUuid, { type: 'warning', code: 'stt_slow', message: 'x', atMs: 2 });
    await h.messages.handle([met('plan', 2), slow, met('city', 1)]);
    await h.messages.handle([met('plan', 1), slow]);
    expect((await h.call(callUuid)).warnings).toEqual([
      { code: 'placeholder_unresolved', key: 'plan', count: 3 },
      'stt_slow',
      { code: 'placeholder_unresolved', key: 'city', count: 1 },
    ]);
  });

  test('a pause of the agent that was no interruption is counted, one that was is not', async () => {
    const callUuid = await talkingCall(h);
    expect((await h.call(callUuid)).falseBargeIns).toBe(0);
    const phase = (name: 'pause' | 'commit' | 'resume', atMs: number) =>
      eventMessage(callUuid, { type: 'barge_in', phase: name, atMs });
    await h.messages.handle([phase('pause', 100), phase('resume', 400), phase('pause', 500), phase('commit', 900)]);
    await h.messages.handle([phase('pause', 1_000), phase('resume', 1_400)]);
    expect((await h.call(callUuid)).falseBargeIns).toBe(2);
  });

  test('the agent hangs up: the carrier is told, and the callback then completes the call with agent_hangup', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.hungUp.length = 0;
    await h.messages.handle([
      { type: 'agent.ended', callUuid, epoch: 1, reason: 'agent_hangup', disposition: 'booked', error: null },
    ]);
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
    await h.messages.handle([stopped(callUuid)]);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    await carrierEnded(callUuid);
    expect(await h.call(callUuid)).toMatchObject({
      status: 'completed',
      endedReason: 'agent_hangup',
      hangupBy: 'agent',
    });
    expect((await h.log(callUuid)).find((line) => line.kind === 'end.asked')?.data['disposition']).toBe('booked');
  });

  test('a hang-up that the carrier does not hear is tried again after 0.5, 2 and 5 s', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.hungUp.length = 0;
    h.carrier.reachable = false;
    await h.messages.handle([
      { type: 'agent.ended', callUuid, epoch: 1, reason: 'agent_hangup', disposition: null, error: null },
    ]);
    for (const [index, pauseMs] of [500, 2_000, 5_000].entries()) {
      await h.until(`attempt ${index + 1}`, () =>
        h.carrier.hungUp.length === index + 1 && h.clock.pendingTimers > 0 ? true : undefined,
      );
      h.clock.advanceMs(pauseMs);
    }
    await h.until('attempt 4', () => (h.carrier.hungUp.length === 4 ? true : undefined));
    h.carrier.reachable = true;
  });

  test('an engine that failed ends the call as failed, with what it said', async () => {
    const callUuid = await talkingCall(h);
    await h.messages.handle([
      {
        type: 'agent.ended',
        callUuid,
        epoch: 1,
        reason: 'tts_error',
        disposition: null,
        error: 'the voice engine died',
      },
    ]);
    await h.messages.handle([stopped(callUuid)]);
    await carrierEnded(callUuid);
    expect(await h.call(callUuid)).toMatchObject({
      status: 'failed',
      endedReason: 'tts_error',
      fault: 'provider',
      error: { code: 'tts_error', message: 'the voice engine died' },
    });
    expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('after media stopped the terminal event holds the whole transcript and the latencies', async () => {
    const callUuid = await talkingCall(h);
    await carrierEnded(callUuid);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    await h.messages.handle([
      eventMessage(callUuid, { type: 'turn', turn: turn('t1', 'Hello') }),
      eventMessage(callUuid, { type: 'turn', turn: turn('t2', 'yes', { role: 'user' }) }),
    ]);
    await h.messages.handle([stopped(callUuid)]);
    expect(await h.call(callUuid)).toMatchObject({
      status: 'completed',
      transcriptStatus: 'ready',
      latency: { agentMs: { p50: 480, max: 620, count: 2 } },
    });
    const [event] = await h.database.query<{ body: string }>('SELECT body FROM webhook_events WHERE call_uuid = $1', [
      callUuid,
    ]);
    expect(JSON.parse(event!.body)).toMatchObject({
      event: 'call.completed',
      transcript: 'Agent: Hello\nCustomer: yes',
    });
    const [delivery] = await h.database.query<{ id: string }>(
      'SELECT d.id FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id WHERE e.call_uuid = $1',
      [callUuid],
    );
    expect(h.dispatched).toContain(delivery!.id);
  });

  test('a recording after the end is announced with its address; told twice it is announced once', async () => {
    const callUuid = await talkingCall(h);
    await h.messages.handle([stopped(callUuid)]);
    await carrierEnded(callUuid);
    const message = await recording(callUuid);
    await h.messages.handle([message]);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'pending' });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
    await h.messages.handle([message]);
    expect(await h.uploader.sweep()).toBe(1);
    await h.messages.handle([message]);
    expect(await h.uploader.sweep()).toBe(0);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: facts });
    const [event] = await h.database.query<{ body: string }>(
      `SELECT body FROM webhook_events WHERE call_uuid = $1 AND event = 'recording.ready'`,
      [callUuid],
    );
    const told = JSON.parse(event!.body);
    expect(told.recording).toMatchObject({
      url: expect.stringContaining(`${PUBLIC_URL}/api/developer/recordings/${callUuid}?`),
      urlExpiresAt: new Date(Math.ceil(h.clock.epochMs() / 1000) * 1000 + 86_400_000).toISOString(),
      durationSeconds: 4,
      sha256: facts.sha256,
    });
    expect(told.recordings.map((one: { variant: string }) => one.variant)).toEqual([
      'stereo',
      'mono',
      'caller',
      'agent',
    ]);
    expect(event!.body).not.toContain('.sealed');
  });

  describe('the sound map that comes with a recording', () => {
    const latency = { turnId: 't3', eouMs: 300, sttMs: 350, ttsMs: 500, agentMs: 620 };
    const talk = (callUuid: string): CallMessage[] => [
      eventMessage(callUuid, { type: 'turn', turn: turn('t2', 'yes', { role: 'user', startMs: 1_500, endMs: 2_000 }) }),
      eventMessage(callUuid, { type: 'latency', latency }),
      eventMessage(callUuid, { type: 'turn', turn: turn('t3', 'Good', { startMs: 2_700, endMs: 3_500 }) }),
    ];
    const withSound = async (callUuid: string): Promise<CallMessage> => {
      const message = (await recording(callUuid)) as Extract<CallMessage, { type: 'recording' }>;
      const sound = {
        durationMs: 4_000,
        callerFloorDbfs: -60,
        caller: [{ startMs: 1_500, endMs: 1_960, peakDbfs: -12 }],
        agent: [{ startMs: 2_720, endMs: 3_500, peakDbfs: -12 }],
      };
      return { ...message, recording: { ...message.recording!, sound } };
    };
    const over = (callUuid: string): CallMessage => ({ ...stopped(callUuid), latencies: [latency] }) as CallMessage;
    const measured = {
      method: 'waveform',
      mouthToEarMs: { p50: 760, p95: 760, count: 1 },
      differenceMs: { p50: 60 },
      longestSilenceMs: 760,
      turns: [{ turnId: 't3', stagesMs: 700, mouthToEarMs: 760 }],
    };

    test('leaves the pipeline’s steps beside the waveform’s answer, and the two are one stretch', async () => {
      const callUuid = await talkingCall(h);
      const stages = {
        ...{ speechEndAtMs: 1_990, decidedMs: 300, finalWordsMs: 350, askedMs: 352, firstTokenMs: 450 },
        ...{ firstClauseMs: 455, firstAudioMs: 500, ringMs: 502, firstFrameMs: 504 },
        listen: { provider: 'deepgram', connection: 'ears', model: 'nova-3' },
        think: { provider: 'openai', connection: 'brain', model: 'mini' },
        speak: { provider: 'elevenlabs', connection: 'voice', model: null },
      };
      const told = talk(callUuid);
      told[1] = eventMessage(callUuid, { type: 'latency', latency: { ...latency, stages } });
      await h.messages.handle(told);
      expect(h.replied).toEqual([stages]);
      await h.messages.handle([over(callUuid)]);
      await h.messages.handle([await withSound(callUuid)]);
      const { turns } = (await h.call(callUuid)).latency as { turns: Record<string, never>[] };
      expect(turns).toMatchObject([{ mouthToEarMs: 760, steps: { ...stages, firstPlayedMs: 710 } }]);
      // The same end by both: the caller's words end within 50 ms, the agent's begin within 50 ms.
      const { steps, mouthToEarMs } = turns[0] as unknown as { steps: { firstPlayedMs: number }; mouthToEarMs: number };
      expect(Math.abs(mouthToEarMs - steps.firstPlayedMs)).toBeLessThanOrEqual(50);
    });

    test('turns the pipeline’s latency into the waveform’s, and is not kept itself', async () => {
      const callUuid = await talkingCall(h);
      await h.messages.handle(talk(callUuid));
      await h.messages.handle([over(callUuid)]);
      expect((await h.call(callUuid)).latency).toMatchObject({ method: 'pipeline', mouthToEarMs: { p50: 700 } });
      const message = await withSound(callUuid);
      await h.messages.handle([message]);
      await h.messages.handle([message]);
      expect((await h.call(callUuid)).latency).toMatchObject(measured);
      await h.uploader.sweep();
      expect(JSON.stringify((await h.call(callUuid)).recordings)).not.toContain('callerFloorDbfs');
      await carrierEnded(callUuid);
      const [event] = await h.database.query<{ body: string }>(
        `SELECT body FROM webhook_events WHERE call_uuid = $1 AND event = 'call.completed'`,
        [callUuid],
      );
      expect(JSON.parse(event!.body)).toMatchObject({ latency: { mouthToEarMs: { p50: 760, p95: 760, max: 760 } } });
    });

    test('holds when media’s last word comes after it', async () => {
      const callUuid = await talkingCall(h);
      await h.messages.handle(talk(callUuid));
      await h.messages.handle([await withSound(callUuid)]);
      await h.messages.handle([over(callUuid)]);
      expect((await h.call(callUuid)).latency).toMatchObject(measured);
    });
  });

  test('a recording that is ready before the call is over waits: the terminal event has sequence 1', async () => {
    const callUuid = await talkingCall(h);
    await h.messages.handle([stopped(callUuid)]);
    await recorded(callUuid);
    expect(await h.webhooks(callUuid)).toEqual([]);
    await carrierEnded(callUuid);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
  });

  test('what a stale epoch says is refused and counted, whatever it is', async () => {
    const callUuid = await talkingCall(h);
    await h.database.query('UPDATE calls SET epoch = 2 WHERE call_uuid = $1', [callUuid]);
    const before = { call: await h.call(callUuid), log: await h.log(callUuid) };
    const counted = h.messages.staleCount();
    const checkpoint = { stepId: 'old', variables: {}, misses: 0, visits: {}, nextTurnNumber: 3, atMs: 1 };
    const stale: CallMessage[] = [
      { type: 'media.started', callUuid, epoch: 1, carrierCallId: 'leg', streamId: 's' },
      eventMessage(callUuid, { type: 'turn', turn: turn('t1', 'Hello') }),
      { type: 'checkpoint', callUuid, epoch: 1, checkpoint },
      { type: 'agent.ended', callUuid, epoch: 1, reason: 'agent_hangup', disposition: null, error: null },
      stopped(callUuid),
      { type: 'recording', callUuid, epoch: 3, recording: null, error: 'no' },
    ];
    for (const message of stale) await h.messages.handle([message]);
    expect({ call: await h.call(callUuid), log: await h.log(callUuid) }).toEqual(before);
    expect(await h.database.query('SELECT 1 AS one FROM call_turns WHERE call_uuid = $1', [callUuid])).toEqual([]);
    expect(h.messages.staleCount() - counted).toBe(stale.length);
  });

  test('a call with two streams has two recordings in their order, whichever is finished first, and one of the whole that is told once', async () => {
    const callUuid = await talkingCall(h);
    await h.database.query('UPDATE calls SET epoch = 3 WHERE call_uuid = $1', [callUuid]);
    await recorded(callUuid, 3);
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
    await recorded(callUuid, 1);
    await recorded(callUuid, 1);
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
    expect(await h.joiner.sweep()).toBe(1);
    expect(await h.uploader.sweep()).toBe(1);
    const call = await h.call(callUuid);
    expect(call).toMatchObject({
      recordingStatus: 'ready',
      recordings: [
        { ...facts, epoch: 1 },
        { ...facts, epoch: 3 },
      ],
    });
    expect(call.recording!.sha256).not.toBe(facts.sha256);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
    const [event] = await h.database.query<{ body: string }>(
      'SELECT body FROM webhook_events WHERE call_uuid = $1 ORDER BY sequence DESC LIMIT 1',
      [callUuid],
    );
    const body = JSON.parse(event!.body);
    expect(body.recording).toMatchObject({ part: null, sha256: call.recording!.sha256 });
    const told = body.recordings.filter((one: { variant: string }) => one.variant === 'stereo');
    expect(told.map((one: { part: number | null }) => one.part)).toEqual([null, 1, 2]);
  });

  test("a recording is expected from the stream's start, and of a call whose media died it is failed", async () => {
    const callUuid = await talkingCall(h);
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'node_lost', hangupBy: 'platform' });
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'failed', warnings: ['recording_failed'] });
    await recorded(callUuid);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', warnings: [] });
  });

  test('what was used of providers is kept once, whoever carries the call by now', async () => {
    const callUuid = await talkingCall(h);
    const line: UsageLine = {
      ...{ usageId: 'u-1', turnId: null, connection: 'brain', version: 1, provider: 'openai_compatible' },
      ...{ model: 'm-1', unit: 'output_tokens' as const, quantity: 12, speculative: false },
    };
    const told: CallMessage = { type: 'usage', callUuid, lines: [line, { ...line, usageId: 'u-2', quantity: 8 }] };
    await h.messages.handle([told]);
    await h.messages.handle([told]);
    await h.messages.handle([{ ...told, callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11' }]);
    const rows = await h.database.query(
      `SELECT call_uuid AS "callUuid", sum(quantity)::float AS quantity FROM call_usage GROUP BY call_uuid`,
    );
    expect(rows).toEqual([{ callUuid, quantity: 20 }]);
  });

  test('a checkpoint is stored whole', async () => {
    const callUuid = await talkingCall(h);
    const checkpoint = {
      stepId: 'ask',
      variables: { order: '42' },
      misses: 1,
      visits: { ask: 2 },
      nextTurnNumber: 5,
      atMs: 9_000,
    };
    await h.messages.handle([{ type: 'checkpoint', callUuid, epoch: 1, checkpoint }]);
    expect((await h.call(callUuid)).checkpoint).toEqual(checkpoint);
  });

  test.each([
    ['bad_stream', 'media_incompatible'],
    ['no_media', 'no_media'],
    ['failed', 'internal_error'],
  ] as const)('media that stops with %s fails the call as %s and hangs up', async (why, reason) => {
    const callUuid = await talkingCall(h);
    h.carrier.hungUp.length = 0;
    await h.messages.handle([{ ...stopped(callUuid), why } as CallMessage]);
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
    await carrierEnded(callUuid);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: reason });
  });
});
