/** What counts as a second list of carriers (`scripts/check-carriers.mjs`), and what is only a word. */
import { expect, it } from 'vitest';
// @ts-expect-error a script, without types
import { carriersNamed } from '../../scripts/check-carriers.mjs';

const namedIn = (code: string): string[] => carriersNamed('a.ts', code, ['acme', 'plivo', 'tincan']);

it.each([
  `const carrier = 'tincan';`,
  `const bySize = { tincan: 1 };`,
  `const bySize = { 'tincan': 1 };`,
  `type Carrier = 'other' | 'tincan';`,
  `createTincanCarrier();`,
  `read('TINCAN_AUTH_ID');`,
  `get('/carriers/tincan/answer');`,
  `get(\`\${base}/carriers/tincan/\${id}\`);`,
  `import { a } from '../carriers/tincan/a.ts';`,
])('takes a name for one: %s', (code) => {
  expect(namedIn(code)).toHaveLength(1);
});

it.each([
  `say('the name of the bucket, like acme-recordings');`,
  `say('see: parley line list acme');`,
  `say(\`workspace \${slug} (acme), its agent and line\`);`,
  `say(\`there is no \${slug} acme\`);`,
  `// tincan is a carrier`,
  `const acmes = 'acmes';`,
])('takes a sentence, a comment and another word for none: %s', (code) => {
  expect(namedIn(code)).toEqual([]);
});
