/** The variables that make connections: each provider's key, its address, and the page that names them. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  BASE_URL_VARIABLES,
  KEY_VARIABLES,
  usualProviders,
  usualThinkers,
} from '../../../src/connections/usual-keys.ts';

const usual = (variables: Record<string, string>) => usualProviders((name) => variables[name]);

it.each([
  ['DEEPGRAM', 'ears', { OPENAI_API_KEY: 'k' }],
  ['ASSEMBLYAI', 'ears', { OPENAI_API_KEY: 'k' }],
  ['OPENAI', 'brain', { DEEPGRAM_API_KEY: 'k' }],
  ['ANTHROPIC', 'brain', { DEEPGRAM_API_KEY: 'k' }],
  ['GEMINI', 'brain', { DEEPGRAM_API_KEY: 'k' }],
  ['ELEVENLABS', 'voice', { DEEPGRAM_API_KEY: 'k', OPENAI_API_KEY: 'k' }],
  ['CARTESIA', 'voice', { DEEPGRAM_API_KEY: 'k', OPENAI_API_KEY: 'k' }],
])('%s may have another address', (provider, name, others) => {
  const made = usual({ ...others, [`${provider}_API_KEY`]: 'k', [`${provider}_BASE_URL`]: 'https://proxy.example' });
  expect(made?.connections.find((one) => one.name === name)).toMatchObject({
    baseUrl: 'https://proxy.example',
    credentials: { apiKey: 'k' },
  });
  expect(Object.values(BASE_URL_VARIABLES)).toContain(`${provider}_BASE_URL`);
});

it('where nobody has to hear a model is enough', () => {
  expect(usual({ GEMINI_API_KEY: 'k' })).toBeNull();
  expect(usualThinkers((name) => (name === 'GEMINI_API_KEY' ? 'k' : undefined))).toMatchObject({
    connections: [{ name: 'brain', provider: 'gemini' }],
    think: [{ connection: 'brain', engine: 'gemini' }],
    speak: [{ engine: 'local' }],
  });
});

it('docs/connections.md names each variable', () => {
  const page = readFileSync('docs/connections.md', 'utf8');
  const source = readFileSync('src/connections/usual-keys.ts', 'utf8');
  const others = [...source.matchAll(/lookUp\('(\w+)'\)/g)].map(([, name]) => name!);
  expect(others.length).toBeGreaterThan(4);
  const all = [...KEY_VARIABLES, ...Object.values(BASE_URL_VARIABLES), ...others];
  expect(all.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
