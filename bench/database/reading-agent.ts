/**
 * An agent that reads half a minute of lines to whoever picks up, and hangs up: it tells as much of its turns as one
 * that converses, and costs no recogniser, so that a hundred of them fit on a small machine.
 */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';

const LINES = [
  'This is a message of River Dental about your appointment on Tuesday at three in the afternoon.',
  'Please arrive ten minutes early and bring your insurance card.',
  'You will find us on the second floor, next to the elevator.',
  'You can park for free behind the building.',
  'If you need to cancel, please call us one day before.',
  'Water and coffee are free in the waiting room.',
  'The first visit takes about forty minutes, and the next ones half of that.',
];

export const readingAgent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Paul of River Dental',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'You read a message.',
  greeting: 'Hello.',
  steps: [
    ...LINES.map((say, at) => ({ id: `line${at}`, say, expect: 'none' as const, goto: idOf(at + 1) })),
    { id: 'bye', say: 'Thank you, and goodbye.', end: { reason: 'agent_hangup' as const } },
  ],
  fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
  idle: { promptAfterMs: 8_000, say: ['Hello?'], endAfterMs: 20_000 },
};

function idOf(at: number): string {
  return at < LINES.length ? `line${at}` : 'bye';
}
