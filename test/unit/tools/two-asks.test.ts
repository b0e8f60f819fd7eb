/** The executor between two askers; all else: `tool-executor.test.ts`. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { ToolAnswer } from '../../../media/contract/tools.ts';
import type { OutboundResult } from '../../../media/net/outbound-http.ts';
import type { CallRow } from '../../../src/calls/call-row.ts';
import type { Queryable } from '../../../src/store/database.ts';
import { createToolExecutor } from '../../../src/tools/tool-executor.ts';
import { orderTool } from '../../support/order-agent.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

it('two asks of one use at once make one request and one answer, even before the first has begun to run', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 21));
  const told: ToolAnswer[] = [];
  let sent = 0;
  let answer = (_result: OutboundResult): void => {};
  const executor = createToolExecutor({
    http: {
      send() {
        sent++;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    },
    sealer: { open: () => '' },
    clock,
    log: pino({ level: 'silent' }),
    answer: (_owner, _callUuid, _toolCallId, given) => void told.push(given),
  });
  const call = { callUuid: 'c', workspaceId: 'w', agentId: 'a', ownerRun: 'm', endedAt: null, metadata: {} };
  const ask = { toolCallId: 'tc_1', name: 'lookup_order', arguments: { order: '42' }, expiresAtEpochMs: 2e12 };
  let rows = 0;
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  /** `wait`: the first statement is answered no sooner. */
  const tx = (wait: Promise<void>): Queryable => ({
    async query(sql) {
      await wait;
      if (sql.includes('agent_versions'))
        return [{ definition: { kind: 'scripted', tools: [orderTool({ headers: {} })] } }] as never;
      return (sql.includes('INSERT INTO tool_calls') && rows++ === 0 ? [{ one: 1 }] : []) as never;
    },
  });
  const first = await executor.claim(tx(Promise.resolve()), call as unknown as CallRow, ask);
  // The lock is free as soon as the first has committed; its asker hears of that a moment later.
  const second = executor.claim(tx(arrived), call as unknown as CallRow, ask);
  first();
  arrive();
  (await second)();
  expect(told).toEqual([]);
  answer({ kind: 'answered', status: 200, retryAfter: null, body: '{}', isBodyWhole: true, responseMs: 1 });
  await executor.close();
  expect({ sent, told }).toEqual({ sent: 1, told: [{ ok: true, status: 200, result: {} }] });
});
