/**
 * What a call's life leaves in the call log: its search row, its deletion against what media
 * still tells, an operator's end.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { searchCalls } from '../../../src/call-log/call-log-search.ts';
import { CALL_PARTS } from '../../../src/calls/call-parts.ts';
import { askForEnd } from '../../../src/lifecycle/end-call.ts';
import type { CallMessage } from '../../../src/media-link/media-messages.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { placedCall, talkingCall } from '../lifecycle/talk.ts';

let h: Harness;
let folder: string;
beforeAll(async () => {
  h = await createHarness();
  folder = mkdtempSync(join(tmpdir(), 'parley-log-life-'));
});
afterAll(async () => {
  await h.close();
  rmSync(folder, { recursive: true });
});

const said = (callUuid: string, turnId: string, text: string): CallMessage => ({
  type: 'live',
  callUuid,
  epoch: 1,
  atEpochMs: h.clock.epochMs(),
  event: {
    type: 'turn',
    turn: { turnId, role: 'user', startMs: 0, endMs: 9, text, heardText: text, interrupted: false },
  },
});

async function ended(callUuid: string): Promise<void> {
  await h.transitions.apply(callUuid, {
    type: 'carrier.ended',
    carrierCallId: 'leg',
    end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 4 },
  });
  await h.messages.handle([
    { type: 'media.stopped', callUuid, epoch: 1, why: 'socket_closed', durationMs: 4_000, latencies: [] },
  ]);
  expect((await h.call(callUuid)).status).toBe('completed');
}

async function found(q: string): Promise<string[]> {
  const { workspaceId } = h.newCall();
  return (await searchCalls(h.database, { workspaceId, filters: { q }, after: null, limit: 9 })).callUuids;
}

test('words are found once the call has ended, also those that come after its end', async () => {
  const callUuid = await talkingCall(h);
  await h.messages.handle([said(callUuid, 't1', 'xylophone')]);
  expect(await found('xylophone')).toEqual([]);
  await ended(callUuid);
  expect(await found('xylophone')).toEqual([callUuid]);
  await h.messages.handle([said(callUuid, 't2', 'zither')]);
  expect(await found('xylophone zither')).toEqual([callUuid]);
});

describe('what media still tells of a deleted call', () => {
  test('words are dropped, and nothing is ready again', async () => {
    const callUuid = await talkingCall(h);
    await h.messages.handle([said(callUuid, 't1', 'marimba')]);
    await ended(callUuid);
    const { workspaceId } = await h.call(callUuid);
    expect(await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: CALL_PARTS, by: BY_OPERATOR })).toBe(
      'deleted',
    );
    await h.messages.handle([said(callUuid, 't2', 'marimba')]);
    expect(await found('marimba')).toEqual([]);
    expect(await h.database.query('SELECT 1 FROM call_turns WHERE call_uuid = $1', [callUuid])).toEqual([]);
    expect(JSON.stringify(await h.log(callUuid))).not.toContain('marimba');
    expect((await h.call(callUuid)).transcriptStatus).toBe('deleted');
  });

  test('a recording that was still being finished is removed when it comes, and no webhook tells of it', async () => {
    const callUuid = await talkingCall(h);
    await ended(callUuid);
    const { workspaceId } = await h.call(callUuid);
    await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: ['recording'], by: BY_OPERATOR });
    const path = join(folder, 'late.ogg');
    writeFileSync(path, 'OggS');
    const facts = {
      path,
      format: 'ogg_opus',
      channels: 2,
      rateHz: 8000,
      durationMs: 9,
      sizeBytes: 4,
      sha256: 'ab',
    } as const;
    await h.messages.handle([{ type: 'recording', callUuid, epoch: 1, recording: facts, error: null }]);
    expect(existsSync(path)).toBe(false);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'deleted', recordings: [] });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
  });
});

describe('an end that was asked for at the command line', () => {
  async function asked(callUuid: string): Promise<void> {
    const { workspaceId } = await h.call(callUuid);
    expect(await askForEnd(h.database, { workspaceId, callUuid, by: BY_OPERATOR })).toBe('asked');
    const now = new Date(h.clock.epochMs());
    await h.database.query('UPDATE calls SET end_asked_at = $2, deadline_at = $2 WHERE call_uuid = $1', [
      callUuid,
      now,
    ]);
    h.clock.advanceMs(1);
    await h.reaper.sweep();
  }

  test('of a talk hangs up at the carrier as operator_hangup', async () => {
    const callUuid = await talkingCall(h);
    await asked(callUuid);
    await h.until('the hang-up', () => h.carrier.hungUp.find((id) => id === `leg-${callUuid}`));
    await ended(callUuid);
    expect(await h.call(callUuid)).toMatchObject({ endedReason: 'operator_hangup', hangupBy: 'operator' });
  });

  test('of a call that rings cancels it', async () => {
    const callUuid = await placedCall(h);
    await asked(callUuid);
    await h.until('the cancelling', () => h.carrier.cancelled.find((id) => id === `req-${callUuid}`));
    expect(await h.call(callUuid)).toMatchObject({ status: 'no_answer', endedReason: 'canceled' });
    expect(await askForEnd(h.database, { ...(await h.call(callUuid)), by: BY_OPERATOR })).toBe('over');
    expect(await askForEnd(h.database, { workspaceId: callUuid, callUuid, by: BY_OPERATOR })).toBe('unknown_call');
  });
});
