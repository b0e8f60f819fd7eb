import { describe, expect, test } from 'vitest';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { faultsIn } from '../../fault/chaos/transcript-check.ts';

type Turn = Call['turns'][number];

const INTENTS = ['confirmed', 'early'];

function conversation(...said: (string | { intent: string })[]): Turn[] {
  return said.map((one, at) => ({
    turnId: `t${at + 1}`,
    role: typeof one === 'string' ? 'agent' : 'user',
    startMs: at * 1000,
    endMs: at * 1000 + 900,
    text: typeof one === 'string' ? one : 'yes please',
    heardText: '',
    interrupted: false,
    words: null,
    ...(typeof one === 'string' ? {} : { intent: one.intent }),
  }));
}

const judge = (turns: Turn[], spoken = 2, deaths = 1, agentBegan = ['t1']) =>
  faultsIn(turns, { intents: INTENTS, agentBegan, spoken, deaths });
const confirmed = { intent: 'confirmed' };
const early = { intent: 'early' };
const whole = () => conversation('Three?', confirmed, 'Early?', early, 'Goodbye.');

describe('the transcript of a conversation that lost its thread', () => {
  test('is whole with each answer once, and with one that was asked for again', () => {
    expect(judge(whole())).toEqual([]);
    expect(judge(conversation('Three?', confirmed, 'Sorry. Three?', confirmed, 'Early?', early), 3)).toEqual([]);
    expect(judge(whole().filter(({ turnId }) => turnId !== 't5'))).toEqual([]);
    expect(judge(conversation('Three?', { intent: 'asked_again' }, 'Three?', confirmed, 'Early?', early), 3)).toEqual(
      [],
    );
  });

  test.each([
    ['words of the agent that are missing', whole().slice(1), 'has not what the agent said as t1'],
    ['a turn that came twice', [...whole().slice(0, 2), ...whole().slice(1)], 'has the turns t1 t2 t2 t3 t4 t5'],
    ['an answer that is missing', conversation('Three?', 'Early?', early), 'has the intents early'],
    ['answers in another order', conversation('Three?', early, 'Early?', confirmed), 'has the intents early confirmed'],
    [
      'an answer twice to one question',
      conversation('Three?', confirmed, confirmed, 'Early?', early),
      'has "confirmed" twice, and was not asked twice',
    ],
  ])('is not with %s', (_, turns, fault) => {
    expect(judge(turns, 3)).toContain(fault);
  });

  test('is not with more answers than the callee gave, more repetitions than deaths, or a turn without words', () => {
    expect(judge(whole(), 1)).toEqual(['has 2 answers of a callee who spoke 1 times']);
    const twice = conversation('Three?', confirmed, 'Sorry. Three?', confirmed, 'Early?', early);
    expect(judge(twice, 3, 0)).toEqual(['has 1 answers twice, after 0 deaths']);
    expect(judge(whole().map((turn) => (turn.turnId === 't2' ? { ...turn, text: '' } : turn)))).toEqual([
      'has turns without words: t2',
    ]);
  });
});
