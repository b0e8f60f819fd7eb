/**
 * What a call's life does with tools: asks of control until it is answered, also of the next
 * run of control, and of the page.
 */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ToControl } from '../../../../media/contract/link-messages.ts';
import type { ToolAnswer, ToolAsk } from '../../../../media/contract/tools.ts';
import { CallLife, type CallLifeOptions } from '../../../../media/io/call-life.ts';
import type { CallLeg } from '../../../../media/io/legs/core/call-leg.ts';
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
