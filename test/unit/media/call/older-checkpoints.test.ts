/**
 * Calls go on from checkpoints that the version before the agent port wrote: `checkpoints-before-agents.json` is of a
 * call of `orderAgent` there.
 */
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { readCheckpoint, type ScriptCheckpoint } from '../../../../media/contract/checkpoint.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { orderAgent } from '../../../support/order-agent.ts';

const FILE = new URL('../../../support/fixtures/checkpoints-before-agents.json', import.meta.url);
type Moment = 'asked' | 'missed' | 'waiting' | 'muted';
const OLD = JSON.parse(readFileSync(FILE, 'utf8')) as Record<Moment, ScriptCheckpoint>;

let call: FakeCall;
afterEach(() => call.close());

async function resumed(moment: Moment): Promise<void> {
  call = await fakeCall({ agent: orderAgent({ voice: 'fake' }), checkpoint: OLD[moment], prepared: false });
  call.start();
}
const asks = () => call.sent.flatMap((message) => (message.type === 'call.tool' ? [message.ask] : []));

test.each(['asked', 'missed'] as const)(
  '%s: the same question after a bridge, with later numbers and times',
  async (moment) => {
    await resumed(moment);
    await call.agentFinishes('Sorry, I lost you for a moment. What is your order number?');
    const { nextTurnNumber, atMs, misses } = OLD[moment];
    expect(call.turns[0]).toMatchObject({ turnId: `t${nextTurnNumber}`, stepId: 'number' });
    expect(call.turns[0]!.startMs).toBeGreaterThanOrEqual(atMs);
    expect(call.checkpoints.at(-1)).toMatchObject({
      agent: { kind: 'scripted', version: 1, state: { stepId: 'number', misses } },
      nextTurnNumber: nextTurnNumber + 1,
    });
    call.ear.turns.push({ final: { text: 'four two' } });
    await call.say(600);
    await call.runUntil('the tool', () => asks().length > 0);
    expect(asks()[0]!.arguments).toEqual({ order: '42' });
  },
);

test('waiting for a tool: it is asked again under the same id', async () => {
  await resumed('waiting');
  await call.runUntil('the tool', () => asks().length > 0);
  expect(asks()).toMatchObject([{ toolCallId: 'tc_call1_1_f992dd00', arguments: { order: '42' } }]);
  const result = { order: { day: 'Thursday' } };
  const answer = { ok: true, status: 200, result } as const;
  call.registry.command('call-1', { type: 'tool.answer', toolCallId: asks()[0]!.toolCallId, answer });
  await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
});

test('silenced by an operator: it stays silent until that is lifted', async () => {
  await resumed('muted');
  await call.run(4_000);
  expect(call.turns).toEqual([]);
  call.registry.command('call-1', { type: 'control', controlId: 'c', action: { type: 'unmute_agent' } });
  await call.runUntil('words', () => call.turns.length > 0);
});

test('what is known of the caller is read as before, and nothing of the call’s own part is lost', async () => {
  await resumed('muted');
  const { stepId, misses, visits, ...own } = OLD.muted;
  const state = { stepId, misses, visits };
  expect(own.variables).toEqual({ order: '42' });
  expect(readCheckpoint(OLD.muted)).toEqual({ ...own, agent: { kind: 'scripted', version: 1, state } });
  const now = readCheckpoint(OLD.muted);
  expect(readCheckpoint(now)).toBe(now);
});
