import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { ToMedia } from '../../../media/contract/link-messages.ts';
import type { CallRow } from '../../../src/calls/call-row.ts';
import { createMediaPool, type MediaMember } from '../../../src/media-link/media-pool.ts';
import type { Database } from '../../../src/store/database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const CALL = { callUuid: 'c1', ownerRun: 'r1' } as CallRow;

function poolOf() {
  const clock = new VirtualClock();
  const sent: ToMedia[] = [];
  const member: MediaMember = {
    runId: 'r1',
    mediaId: 'm1',
    connected: true,
    activeCalls: 1,
    capacityCalls: 10,
    draining: false,
    room: null,
    socketServer: 'ws',
    send: (message) => sent.push(message) > 0,
  };
  const pool = createMediaPool({ database: {} as Database, clock, log: pino({ level: 'silent' }) });
  pool.join(member);
  const idOf = (at: number): string => (sent[at] as Extract<ToMedia, { type: 'control' }>).controlId;
  return { clock, sent, member, pool, idOf };
}

it('asks the process that carries the call once, and each answer reaches who asked for it', async () => {
  const { clock, sent, pool, idOf } = poolOf();
  const first = pool.control(CALL, { type: 'mute_agent' });
  const second = pool.control(CALL, { type: 'say', text: 'hello', interrupt: false });
  expect(sent).toMatchObject([
    { type: 'control', callUuid: 'c1', action: { type: 'mute_agent' } },
    { type: 'control', callUuid: 'c1', action: { type: 'say' } },
  ]);
  pool.controlled(idOf(1), { done: false, why: 'muted' });
  pool.controlled(idOf(0), { done: true });
  pool.controlled(idOf(0), { done: false, why: 'ending' });
  pool.controlled('of another run', { done: true });
  expect(await Promise.all([first, second])).toEqual([{ done: true }, { done: false, why: 'muted' }]);
  expect(clock.pendingTimers).toBe(0);
});

it('gives up after 3 s without an answer, and does not wait for a process that is away', async () => {
  const { clock, sent, member, pool } = poolOf();
  const asked = pool.control(CALL, { type: 'mute_agent' });
  clock.advanceMs(3_000);
  expect(await asked).toBe('unanswered');
  member.connected = false;
  expect(await pool.control(CALL, { type: 'mute_agent' })).toEqual({ done: false, why: 'not_here' });
  expect(await pool.control({ ...CALL, ownerRun: 'r2' }, { type: 'mute_agent' })).toMatchObject({ done: false });
  expect(sent).toHaveLength(1);
});
