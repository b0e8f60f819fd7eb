/** What a provider says of a key is told without it; words that only begin alike are told. */
import { expect, test } from 'vitest';
import { withoutSecrets } from '../../../../../media/engines/provider/provider-error.ts';

const said = (text: string, apiKey = 'ollama-key-0123'): string => withoutSecrets(text, { credentials: { apiKey } });

test.each([
  ['No such key: ollama-key-0123.', 'No such key: ….'],
  ['“ollama-key-0123” and ollama-key-0123', '“…” and …'],
  ['No such key: ollama-k', 'No such key: …'],
  ['No such key: ollama-k...', 'No such key: …...'],
  ['No such key: ollama-key-0… (cut)', 'No such key: …… (cut)'],
  ['No such key: ollama-key-0***', 'No such key: …***'],
  ['No such key: ollama-key-0 [truncated]', 'No such key: … [truncated]'],
])('%s', (text, told) => {
  expect(said(text)).toBe(told);
});

test('words that only begin as the key does', () => {
  expect(said('There is no ollama-kraken here.')).toBe('There is no ollama-kraken here.');
  expect(said('All is well.', '')).toBe('All is well.');
});
