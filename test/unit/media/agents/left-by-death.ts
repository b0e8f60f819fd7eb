/** What the pipeline pool makes of a call on fakes whose thread dies now. Used by the agents' conformance suite. */
import { expect } from 'vitest';
import { type Checkpoint, EMPTY_CHECKPOINT } from '../../../../media/contract/checkpoint.ts';
import type { Turn } from '../../../../media/contract/conversation.ts';
import type { FakeCall } from '../../../support/fakes/fake-call.ts';

export interface Left {
  turns: Turn[];
  checkpoint: Checkpoint | null;
}

/** The open utterance is a turn, and the next one has a number of its own. */
export function leftBy(call: FakeCall): Left {
  const turns = [...call.turns];
  let cut: Checkpoint['cut'];
  const open = call.sent.findLast((message) => message.type === 'call.speaking')?.utterance;
  if (open !== undefined && !turns.some(({ turnId }) => turnId === open.turnId)) {
    const more = call.sent.map((one) =>
      one.type === 'call.speaking.more' && one.turnId === open.turnId ? one.more : '',
    );
    const text = open.text + more.join('');
    const { heardChars, streamMs } = call.leg.block;
    expect(heardChars).toBeLessThanOrEqual(text.length);
    const heardText = text.slice(0, heardChars);
    // Whole words.
    expect(heardText === '' || /^(\s|$)/.test(text.slice(heardChars))).toBe(true);
    const { turnId, startMs } = open;
    turns.push({ turnId, role: 'agent', startMs, endMs: streamMs, text, heardText, interrupted: true });
    cut = { text, heardText };
  }
  const last = call.checkpoints.at(-1) ?? null;
  if (turns.length === 0) return { turns, checkpoint: last };
  const from = last ?? EMPTY_CHECKPOINT;
  const nextTurnNumber = Math.max(from.nextTurnNumber, ...turns.map(({ turnId }) => Number(turnId.slice(1)) + 1));
  return { turns, checkpoint: { ...from, nextTurnNumber, ...(cut === undefined ? {} : { cut }) } };
}
