/** Calls of the demo's agent as an analysis sees them, told in short lines. */

import demo from '../../../bench/demo/agent.json' with { type: 'json' };
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import type { Turn } from '../../../media/contract/conversation.ts';
import { type CallStory, storyOf } from '../../../src/analysis/call-story.ts';
import type { CallRecord } from '../../../src/calls/call-record.ts';
import { sampleCall } from '../webhooks/sample-call.ts';

export const DEMO_AGENT = demo as ScriptedAgent;

/** `['agent', text, stepId?]` or `['user', text, intent?]`; ids are t1, t2, …. */
export type Line = readonly [role: 'agent' | 'user', text: string, mark?: string];

export function turnsOf(lines: readonly Line[]): Turn[] {
  return lines.map(([role, text, mark], index) => ({
    turnId: `t${index + 1}`,
    role,
    startMs: index * 3_000,
    endMs: index * 3_000 + 2_000,
    text,
    heardText: text,
    interrupted: false,
    kind: role === 'user' && mark === undefined ? 'unclear' : 'speech',
    ...(role === 'agent' && mark !== undefined ? { stepId: mark } : {}),
    ...(role === 'user' && mark !== undefined ? { intent: mark } : {}),
  }));
}

export interface StoryChanges {
  agent?: ScriptedAgent;
  call?: Partial<CallRecord>;
  disposition?: string | null;
  variables?: Record<string, string>;
}

export function story(lines: readonly Line[], changes: StoryChanges = {}): CallStory {
  const { agent = DEMO_AGENT, call = {}, disposition = null, variables = {} } = changes;
  const record = sampleCall({
    name: 'Dana',
    checkpoint: { stepId: null, variables, misses: 0, visits: {}, nextTurnNumber: 9, atMs: 0 },
    ...call,
  });
  return storyOf(record, turnsOf(lines), agent, disposition);
}

export const GREETING: Line = [
  'agent',
  'Hello Dana, this is Paul from River Dental. I am calling about your appointment on Tuesday.',
];
export const QUESTION: Line = ['agent', 'Can you still come at three in the afternoon?', 'confirm'];
const DETAILS: Line = ['agent', 'Please arrive ten minutes early and bring your insurance card.', 'details'];
const BYE: Line = ['agent', 'Thank you Dana, and see you soon. Goodbye!', 'bye'];

export const CONFIRMED: readonly Line[] = [
  GREETING,
  QUESTION,
  ['user', 'yes please', 'confirmed'],
  DETAILS,
  ['user', 'where can i park', 'asked_parking'],
  ['agent', 'You can park for free behind the building. Do you have another question?', 'parking'],
  ['user', 'no thank you goodbye', 'nothing_else'],
  BYE,
];
export const RESCHEDULED: readonly Line[] = [
  GREETING,
  QUESTION,
  ['user', 'no i can not come', 'cannot_come'],
  ['agent', 'No problem. Which other day suits you, Wednesday, Thursday or Friday?', 'reschedule'],
  ['user', 'on thursday', 'thursday'],
  ['agent', 'Done. I have moved you to Thursday at three.', 'rebooked'],
  DETAILS,
  ['user', 'okay thank you', 'thanks'],
  BYE,
];
export const WRONG_NUMBER: readonly Line[] = [
  GREETING,
  QUESTION,
  ['user', 'you have the wrong number', 'wrong_number'],
  ['agent', 'I am sorry to have bothered you. Goodbye.', 'wrong_number'],
];
