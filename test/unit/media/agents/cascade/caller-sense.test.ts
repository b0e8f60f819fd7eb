/** What the caller's words mean, where a stranger chose them: recognisers write a long "mmm", pages send any text. */
import { expect, test } from 'vitest';
import { isGoodbye, senseOf } from '../../../../../media/agents/cascade/caller-sense.ts';

const spoken = (text: string) => senseOf({ text, rejected: false, how: 'spoken' }, true);

test.each([`${'m'.repeat(34)} stop`, `${'uh huh '.repeat(34)}stop`, `${'mm hm '.repeat(34)}stop`])(
  'assent that words follow is judged at once, however long it is (%#)',
  (text) => {
    expect(spoken(text)).toBe('answer');
    expect(isGoodbye(text)).toBe(false);
  },
);

test.each(['uh huh', 'Mm-hm', 'mmhmm', 'hm hm', 'okay ok', 'ach so ja', 'aha ah ahah', 'alles klar', 'all right'])(
  'assent is assent: %s',
  (text) => {
    expect(spoken(text)).toBe('acknowledge');
  },
);
