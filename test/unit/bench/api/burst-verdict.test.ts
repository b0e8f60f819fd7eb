/** What a burst of placements may not do. */
import { describe, expect, it } from 'vitest';
import { answersByKind, burstFaults } from '../../../../bench/api/burst-verdict.ts';

type Answer = Parameters<typeof answersByKind>[0][number] & {
  body: { success: boolean; message?: string; callUuid?: string };
};

const placed = (callUuid: string): Answer => ({ status: 200, headers: {}, body: { success: true, callUuid } });
const refused = (status: number, headers: Record<string, string> = { 'retry-after': '2' }): Answer => ({
  status,
  headers,
  body: { success: false, message: 'no' },
});
const faultsOf = (
  answers: readonly Answer[],
  dialled: readonly string[],
  stored: readonly string[] = ['a'],
): string[] =>
  burstFaults({
    requests: answers.map((answer, index) => ({ to: `+${index}`, answer })),
    dialled,
    stored: new Set(stored),
  });

describe('of a burst', () => {
  it('nothing is at fault where each is answered and those of a 200 alone are dialled', () => {
    expect(faultsOf([placed('a'), refused(429), refused(503)], ['+0'])).toEqual([]);
  });

  it('each other end is told, with how many and the first of them', () => {
    const also = placed('b');
    const among = (answer: Answer, dialled: readonly string[] = []): string[] =>
      faultsOf([also, answer], ['+0', ...dialled], ['a', 'b']);
    expect(among(refused(0, {}))).toEqual(['1 had no answer, the first: +1: no']);
    expect(faultsOf([also, refused(500), refused(500)], ['+0'], ['b'])).toEqual([
      '2 were answered 500, the first: +1: no',
    ]);
    expect(among(refused(503, {}))).toEqual(['1 were refused without Retry-After, the first: +1']);
    expect(among(refused(503, { 'retry-after': 'soon' }))).toHaveLength(1);
    expect(faultsOf([placed('a')], [])).toEqual(['1 were acknowledged and not dialled, the first: +0']);
    expect(faultsOf([placed('a')], ['+0'], [])).toEqual(['1 were acknowledged and are not stored, the first: +0']);
    expect(among(refused(429), ['+1'])).toEqual(['1 were refused and dialled, the first: +1']);
    expect(faultsOf([placed('a')], ['+0', '+0'])).toEqual(['1 were dialled more than once, the first: +0']);
    expect(faultsOf([refused(503), refused(429)], [])).toEqual(['none was placed']);
  });

  it('answers are counted by status and code, the most frequent first', () => {
    const overloaded = refused(503, { 'retry-after': '2', 'x-error-code': 'overloaded' });
    expect([...answersByKind([placed('a'), overloaded, overloaded])]).toEqual([
      ['503 overloaded', 2],
      ['200', 1],
    ]);
  });
});
