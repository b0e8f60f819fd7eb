import { expect, it } from 'vitest';
import { helpOf, namesOf } from '../../../bench/harness/options.ts';

it('help names every option with its value, meaning and default', () => {
  const help = helpOf({
    command: 'npm run bench -- x',
    about: 'Measures x.',
    options: { calls: { type: 'string', default: '20' }, knee: { type: 'boolean', default: false } },
    meanings: { calls: '<N> at once', knee: 'find it' },
  });
  expect(help.split('\n')).toEqual([
    'usage: npm run bench -- x',
    '',
    'Measures x.',
    '',
    '  --calls <N>  at once (default 20)',
    '  --knee       find it',
    '  --help       this',
    '',
  ]);
});

it('takes a list of names, and refuses one that is not known with those that are', () => {
  expect(namesOf('subjects', 'ws, uws', ['uws', 'ws'])).toEqual(['ws', 'uws']);
  for (const [given, name] of [
    ['uws,wss', 'wss'],
    ['', ''],
    ['uws,', ''],
  ] as const) {
    expect(() => namesOf('subjects', given, ['uws', 'ws'])).toThrow(
      `--subjects: there is no '${name}'; it takes a list of: uws, ws`,
    );
  }
});
