/** Options of the demo that would come to nothing are refused, with the way out. */
import { expect, it } from 'vitest';
import { choiceFault } from '../../../../bench/demo/choice-fault.ts';
import { USUAL_CHOICE } from '../../../../bench/demo/restaurant/providers.ts';

const fault = (given: Record<string, string>): string | null =>
  choiceFault({ agent: 'scripted', ...USUAL_CHOICE, ...given }, new Set(Object.keys(given)), ['scripted', 'cascade']);

it.each([
  [{ listen: 'deepgram' }, /^--listen is of a cascade, .*: add --agent cascade, or leave it out$/],
  [{ think: 'gemini', speak: 'local' }, /^--think and --speak are of a cascade, .*, or leave them out$/],
  [{ agent: 'robot' }, /^--agent knows scripted and cascade, not 'robot'$/],
  [{ agent: 'cascade', speak: 'nobody' }, /^--speak nobody: there is none of that name; use one of .*, local/],
  [{ agent: 'cascade', listen: 'local' }, /^--listen local: there is none of that name/],
])('%j', (given, said) => {
  expect(fault(given)).toMatch(said);
});

it.each([[{}], [{ agent: 'cascade', listen: 'deepgram-flux', speak: 'local' }]])('%j is well', (given) => {
  expect(fault(given)).toBeNull();
});
