import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';

test('the agent shown in docs/agents.md passes the import check without a fault', () => {
  const page = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8');
  const shown = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(checkAgent(JSON.parse(shown), loadLexicon())).toMatchObject({ ok: true });
});
