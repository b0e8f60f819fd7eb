/**
 * What a call's life tells control: tools are asked for until they are answered, also of the next run of control; its
 * last word is said once, by the process that had the call when it ended.
 */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ToControl } from '../../../../media/contract/link-messages.ts';
import type { ToolAnswer, ToolAsk } from '../../../../media/contract/tools.ts';
import { CallLife, type CallLifeOptions } from '../../../../media/io/call-life.ts';
import type { CallLeg } from '../../../../media/io/legs/core/call-leg.ts';
import type { CallBlock } from '../../../../media/rings/call-block.ts';
import { setupOf } from '../../../support/fakes/fake-call.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const HTTP = { atPage: false, timeoutMs: 10_000 };
const PAGE = { atPage: true, timeoutMs: 3_000 };
const ask: ToolAsk = { toolCallId: 'tc_1', name: 'find', arguments: { order: '42' }, expiresAtEpochMs: 1 };
const answer: ToolAnswer = { ok: true, status: 200, result: 'x' };

function lifeOf(leg: Partial<CallLeg> = {}) {
  const told: ToControl[] = [];
  const life = new CallLife({
    setup: setupOf(sampleAgent()),
    clock: new VirtualClock(),
    log: pino({ level: 'silent' }),
    toControl: (message: ToControl) => void told.push(message),
    over: () => {},
    pool: { place: () => ({ stop: () => {}, command: () => {} }) },
  } as unknown as CallLifeOptions);
  life.joins(leg as CallLeg);
  return { life, told };
}

describe('a tool of control', () => {
  test('is asked for once, and once more of each run of control that has not answered', () => {
    const { life, told } = lifeOf();
    life.toolAsked(ask, HTTP);
    life.controlRestarted();
    expect(told).toEqual(Array(2).fill({ type: 'tool.call', callUuid: 'call-1', epoch: 1, ask }));
    life.command({ type: 'tool.answer', toolCallId: 'tc_1', answer });
    life.controlRestarted();
    expect(told).toHaveLength(2);
  });

  test('that is called off is called off at control, and not asked for again', () => {
    const { life, told } = lifeOf();
    life.toolAsked(ask, HTTP);
    life.toolCancelled('tc_1');
    life.controlRestarted();
    expect(told.at(-1)).toEqual({ type: 'tool.cancel', callUuid: 'call-1', epoch: 1, toolCallId: 'tc_1' });
    expect(told).toHaveLength(2);
  });
});

describe('a tool of the page', () => {
  test('is asked of the leg, and called off there; control hears nothing', () => {
    const seen: string[] = [];
    const { life, told } = lifeOf({
      toolAsked: (asked, timeoutMs) => seen.push(`${asked.name} ${timeoutMs}`) > 0,
      toolCancelled: (toolCallId) => void seen.push(`off ${toolCallId}`),
    });
    life.toolAsked(ask, PAGE);
    life.toolCancelled('tc_1');
    expect(seen).toEqual(['find 3000', 'off tc_1']);
    expect(told).toEqual([]);
  });
});

describe('the last word of a call', () => {
  const started = (leg: Partial<CallLeg>) => {
    const { life, told } = lifeOf({ canMove: true, handOver: () => {}, counters: {}, ...leg } as Partial<CallLeg>);
    life.started('stream-1', '', { memory: new SharedArrayBuffer(0) } as CallBlock, null);
    const stops = () => told.filter(({ type }) => type === 'media.stopped');
    return { life, stops };
  };

  test('is left to whoever claims the call when the process is stopped', () => {
    const { life, stops } = started({ handOver: () => life.over('stopped', 1_000, '') });
    life.handOver();
    life.closed(false);
    expect(stops()).toEqual([]);
  });

  test('is said though the process is stopped, where the call was over already and its pipeline not', () => {
    const { life, stops } = started({});
    life.over('socket_closed', 1_000, '');
    life.handOver();
    life.closed(false);
    expect(stops()).toMatchObject([{ why: 'socket_closed', durationMs: 1_000 }]);
  });
});
