/**
 * `npm run fault -- <scenario> [options]`: builds if needed and runs `test/fault/<scenario>/main.ts`, fault tests at
 * full size.
 */
import { runScenario } from './scenarios.mjs';

await runScenario({
  command: 'npm run fault',
  folder: 'test/fault',
  scenarios: {
    chaos: 'parts of the service die under calls',
    history: 'webhooks under a nemesis: is anything lost, invented, out of order?',
    placements: 'a carrier that times out, resets and succeeds late: is any phone rung twice?',
    cascade:
      'conversations with a language model whose providers and tools fail: is the agent ever silent, stuck or lost?',
    'barge-in': 'callers who talk, murmur and cough into an agent’s words: who stops it?',
    fuzz: 'mutated WebSocket messages at both socket servers',
  },
});
