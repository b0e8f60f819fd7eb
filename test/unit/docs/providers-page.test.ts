/** `docs/providers.md` says of each engine what its entry in the registry declares, and its parts are taken. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import { ENGINES } from '../../../media/contract/engine-list.ts';
import { PROVIDERS, type ProviderAbility, type ProviderName } from '../../../media/contract/providers.ts';
import { EARS, MODELS, VOICES } from '../../../media/engines/registry.ts';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';

const page = readFileSync('docs/providers.md', 'utf8');
const agent = JSON.parse(/```json\n([\s\S]*?)```/.exec(readFileSync('docs/cascade.md', 'utf8'))![1]!) as CascadeAgent;
const lexicon = loadLexicon();

const yes = (is: boolean): string => (is ? 'yes' : 'no');
const table = (...rows: string[][]): string =>
  rows
    .flatMap((row, i) => [`| ${row.join(' | ')} |`, ...(i === 0 ? [`|${row.map(() => '---').join('|')}|`] : [])])
    .join('\n');

function of(ability: ProviderAbility, name: string): string[] {
  const engines: Readonly<Record<string, { provider: ProviderName | null; settings: object }>> = ENGINES[ability];
  const { provider, settings } = engines[name]!;
  const by = provider === null ? 'none: it runs here' : `\`${provider}\`: ${PROVIDERS[provider].title}`;
  return [
    `\`${name}\``,
    by,
    Object.keys(settings)
      .map((one) => `\`${one}\``)
      .join(', ') || 'none',
  ];
}

const HEAD = ['engine', 'connection', 'settings'];

const TABLES = {
  recognisers: table(
    [...HEAD, 'telephone’s sound', 'tells turns', 'times of words', 'confidence'],
    ...EARS.map(({ name, traits }) => [
      ...of('listen', name),
      yes(traits.codecs.includes('mulaw')),
      yes(traits.tellsTurns),
      yes(traits.tellsWordTimes),
      yes(traits.tellsConfidence),
    ]),
  ),
  models: table(HEAD, ...MODELS.map(({ name }) => of('think', name))),
  voices: table(
    [...HEAD, 'telephone’s sound', 'other sound', 'times of words'],
    ...VOICES.map(({ name, traits }) => [
      ...of('speak', name),
      yes(traits.codecs.includes('mulaw')),
      `${traits.rateHz / 1000} kHz`,
      yes(traits.tellsWordTimes),
    ]),
  ),
};

test.each(Object.entries(TABLES))('the table of %s is that of the registry', (_what, expected) => {
  expect(page).toContain(`\n\n${expected}\n\n`);
});

describe('the ready parts', () => {
  const parts = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(`{${text}}`) as object);
  const engineIn = (part: object): string => {
    const [[ability, given]] = Object.entries(part) as [[string, CascadeAgent['listen'] | CascadeAgent['think']]];
    const one = Array.isArray(given) ? given[0]! : given;
    return `${ability} ${one.engine ?? 'openai'}`;
  };

  it('has one for each engine of a provider', () => {
    const wanted = [
      ...EARS.map((kind) => ['listen', kind] as const),
      ...MODELS.map((kind) => ['think', kind] as const),
      ...VOICES.map((kind) => ['speak', kind] as const),
    ].filter(([, { threads }]) => threads === 'provider');
    expect(parts.map(engineIn).sort()).toEqual(wanted.map(([ability, { name }]) => `${ability} ${name}`).sort());
  });

  it.each(parts.map((part) => [engineIn(part), part] as const))('%s is taken as it stands', (_engine, part) => {
    const check = checkAgent({ ...agent, ...part }, lexicon);
    expect(check.ok ? [] : check.faults).toEqual([]);
  });
});
