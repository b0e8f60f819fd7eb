import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRecordings } from '../../../src/recordings/recording-rows.ts';
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

  test('who gave a claim up and comes again gets the call anew, in the run that has it alone, and signed', async () => {
    const callUuid = await placedCall(h);
    const token = await answerCall(h, callUuid);
    const claim = (run: string, isAgain?: boolean) =>
      claimCall(h, token, run, {}, isAgain === undefined ? {} : { isAgain });
    expect(await claim('media-1')).toMatchObject({ ok: true, setup: { epoch: 1 } });
    expect(await claim('media-1')).toMatchObject({ ok: false, httpStatus: 409 });
    expect(await claim('media-2', true)).toMatchObject({ ok: false, httpStatus: 409 });
    h.carrier.upgrade = 'bad';
    expect(await claim('media-1', true)).toMatchObject({ ok: false, httpStatus: 403 });
    h.carrier.upgrade = 'ok';
    expect(await claim('media-1', true)).toMatchObject({ ok: true, setup: { callUuid, epoch: 2, checkpoint: null } });

    // The yes that came too late is given back, and says nothing of the stream that there is.
    const givenBack = (epoch: number) =>
      h.messages.handle([
        { type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 0, latencies: [] },
      ]);
    await givenBack(1);
    expect(await h.call(callUuid)).toMatchObject({ epoch: 2, ownerRun: 'media-1', mediaStoppedAt: null });
    const recordings = await readRecordings(h.database, callUuid);
    expect(recordings.map(({ epoch, state }) => [epoch, state])).toEqual([
      [1, 'failed'],
      [2, 'recording'],
    ]);
    // Given back before it comes again: the same.
    await givenBack(2);
    expect(await claim('media-1', true)).toMatchObject({ ok: true, setup: { epoch: 3 } });
    expect(await h.call(callUuid)).toMatchObject({ epoch: 3, mediaStoppedAt: null, status: 'in_progress' });
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
