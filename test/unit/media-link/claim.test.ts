import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRecordings } from '../../../src/recordings/recording-rows.ts';
import { eventually } from '../../support/eventually.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { answerCall, claimCall, placedCall } from '../lifecycle/talk.ts';

let h: Harness;
beforeAll(async () => {
  h = await createHarness();
});
afterAll(() => h.close());
beforeEach(() => {
  h.carrier.upgrade = 'ok';
});

const stopped = (callUuid: string, epoch: number) =>
  h.messages.handle([{ type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 0, latencies: [] }]);

describe('claiming a media stream', () => {
  test('the first claim gets all that the call needs, its run as the owner and epoch 1', async () => {
    const callUuid = await placedCall(h);
    const answer = await claimCall(h, await answerCall(h, callUuid));
    if (!answer.ok) throw new Error(answer.why);
    const call = await h.call(callUuid);
    expect(answer.setup).toMatchObject({
      callUuid,
      epoch: 1,
      enterprise: 'acme',
      agentVersion: 1,
      carrier: 'plivo',
      carrierCallId: `leg-${callUuid}`,
      answeredAtEpochMs: call.answeredAt!.getTime(),
      maxDurationMs: 1_800_000,
      record: true,
      checkpoint: null,
      format: { codec: 'mulaw', rateHz: 8000 },
    });
    const owned = { epoch: 1, ownerRun: 'media-1', ownerMediaId: 'media-1', orphanedAt: null };
    expect(call).toMatchObject({ ...owned, recordingStatus: 'none' });
  });

  test('a claimed call is told of, gives its place back, and takes its agent’s clips and connections along, once', async () => {
    const callUuid = await placedCall(h);
    const token = await answerCall(h, callUuid);
    const done: string[] = [];
    const clips = { chime: {} } as never;
    const grants = [{ name: 'house' }] as never;
    const given: Parameters<typeof claimCall>[3] = {
      bus: { publish: (event) => void done.push(`${event.kind} ${event.callUuid}`) },
      carried: (carried) => void done.push(`carried ${carried}`),
      async clipsOf(agentId, agent) {
        done.push(`clips of ${agentId} ${agent.name}`);
        return clips;
      },
      async grantsOf(granted, agent) {
        done.push(`grants of ${granted} ${agent.name}`);
        return grants;
      },
    };
    const { agent } = h.newCall();
    const answer = await claimCall(h, token, 'media-1', given);
    expect(answer).toMatchObject({ ok: true, setup: { callUuid, epoch: 1, clips, grants } });
    expect(done).toEqual([
      `media.claimed ${callUuid}`,
      `carried ${callUuid}`,
      `clips of ${agent.id} ${agent.definition.name}`,
      `grants of ${callUuid} ${agent.definition.name}`,
    ]);
    expect(await claimCall(h, token, 'media-2', given)).toMatchObject({ ok: false, httpStatus: 409 });
    expect(done).toHaveLength(4);
  });

  test('placeholders: the name wins over metadata, metadata over the agent, secrets stay out, sys.* is there', async () => {
    const metadata = {
      customer_name: 'Other',
      clinic: 'North',
      items: [1, 2],
      none: null,
      'secret.key': 'hush',
      'bad key': 'x',
    };
    const callUuid = await placedCall(h, { metadata });
    const answer = await claimCall(h, await answerCall(h, callUuid));
    if (!answer.ok) throw new Error(answer.why);
    const { placeholders } = answer.setup;
    expect(placeholders).toMatchObject({
      customer_name: 'Asha',
      clinic: 'North',
      items: '[1,2]',
      none: '',
      'sys.call_uuid': callUuid,
      'sys.to': '+14155550123',
      'sys.from': '+14155550100',
      'sys.direction': 'outbound',
      'sys.timezone': 'UTC',
    });
    expect(placeholders['sys.date']).toBe(placeholders['sys.now']!.slice(0, 10));
    expect(Object.keys(placeholders)).not.toContain('secret.key');
    expect(Object.keys(placeholders)).not.toContain('bad key');
  });

  test('of 8 claims at once exactly one wins, the others get 409', async () => {
    const callUuid = await placedCall(h);
    const token = await answerCall(h, callUuid);
    const answers = await Promise.all(Array.from({ length: 8 }, () => claimCall(h, token)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(answers.flatMap((answer) => (answer.ok ? [] : [answer.httpStatus]))).toEqual(Array(7).fill(409));
    expect((await h.call(callUuid)).epoch).toBe(1);
  });

  test('one that was given back before its stream began leaves the token to the next socket, in whatever run', async () => {
    const callUuid = await placedCall(h);
    const token = await answerCall(h, callUuid);
    expect(await claimCall(h, token)).toMatchObject({ ok: true, setup: { epoch: 1 } });
    expect(await claimCall(h, token)).toMatchObject({ ok: false, httpStatus: 409 });
    await stopped(callUuid, 1);
    h.carrier.upgrade = 'bad';
    expect(await claimCall(h, token, 'media-2')).toMatchObject({ ok: false, httpStatus: 403 });
    h.carrier.upgrade = 'ok';
    const next = await claimCall(h, token, 'media-2');
    expect(next).toMatchObject({ ok: true, setup: { callUuid, epoch: 2, checkpoint: null } });
    expect(await h.call(callUuid)).toMatchObject({ ownerRun: 'media-2', mediaStoppedAt: null, status: 'in_progress' });
    const recordings = await readRecordings(h.database, callUuid);
    expect(recordings.map(({ epoch, state }) => [epoch, state])).toEqual([
      [1, 'failed'],
      [2, 'recording'],
    ]);
    // One that began is over when it is over.
    await h.messages.handle([
      { type: 'media.started', callUuid, epoch: 2, carrierCallId: 'leg', streamId: 'stream-1' },
    ]);
    await stopped(callUuid, 2);
    expect(await claimCall(h, token, 'media-2')).toMatchObject({ ok: false, httpStatus: 409 });
    expect((await h.call(callUuid)).epoch).toBe(2);
  });

  test('a second socket waits a moment for it that the first one’s claim is given back, and no longer', async () => {
    const callUuid = await placedCall(h);
    const token = await answerCall(h, callUuid);
    await claimCall(h, token);
    const patiently = { givenBackWithinMs: 1_500 };
    const timers = h.clock.pendingTimers;
    let answer: Awaited<ReturnType<typeof claimCall>> | null = null;
    const asking = claimCall(h, token, 'media-1', patiently).then((said) => {
      answer = said;
    });
    const between = async (): Promise<void> => {
      h.clock.advanceMs(100);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await eventually('the second socket to wait', () => h.clock.pendingTimers > timers);
    expect(answer).toBeNull();
    await stopped(callUuid, 1);
    await eventually('an answer', () => answer !== null, { between });
    expect(answer).toMatchObject({ ok: true, setup: { epoch: 2 } });
    await asking;

    const beganAtMs = h.clock.nowMs();
    let refused: unknown = null;
    void claimCall(h, token, 'media-1', patiently).then((said) => {
      refused = said;
    });
    await eventually('a refusal', () => refused !== null, { between });
    expect(refused).toMatchObject({ ok: false, httpStatus: 409 });
    expect(h.clock.nowMs() - beganAtMs).toBeGreaterThanOrEqual(1_500);
  });

  test('a token that names no call is 401', async () => {
    expect(await claimCall(h, 'x'.repeat(43))).toMatchObject({ ok: false, httpStatus: 401 });
  });

  test('a wrong or missing signature is 403 and burns nothing; a carrier that never signs is let in', async () => {
    const token = await answerCall(h, await placedCall(h));
    h.carrier.upgrade = 'bad';
    expect(await claimCall(h, token)).toMatchObject({ ok: false, httpStatus: 403 });
    h.carrier.upgrade = 'unsupported';
    expect(await claimCall(h, token)).toMatchObject({ ok: true });
  });

  test('the stream of a call that is over, or that the carrier has ended, is 409', async () => {
    for (const finish of [true, false]) {
      const callUuid = await placedCall(h);
      const token = await answerCall(h, callUuid);
      if (finish) await h.transitions.apply(callUuid, { type: 'finish', reason: 'no_media', hangupBy: 'platform' });
      else await h.database.query('UPDATE calls SET carrier_ended_at = now() WHERE call_uuid = $1', [callUuid]);
      expect(await claimCall(h, token)).toMatchObject({ ok: false, httpStatus: 409 });
    }
  });
});
