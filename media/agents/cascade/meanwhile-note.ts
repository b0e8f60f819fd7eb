/** What the model is told of a stretch of the call in which a person spoke in the agent's place. Pure. */
import type { AgentEvent } from '../../contract/agent.ts';
import { withoutRemarks } from './prompt.ts';

const WHO = { caller: 'Caller', person: 'Colleague' } as const;

export function meanwhileNote({ said, note }: Extract<AgentEvent, { type: 'handed_back' }>): string {
  const lines = said.map(({ who, text }) => `${WHO[who]}: ${withoutRemarks(text)}`);
  const parts = [
    'A colleague took the call and spoke with the caller in your place. Now it is yours again.',
    lines.length === 0 ? 'Nothing was said meanwhile.' : `Meanwhile was said:\n${lines.join('\n')}`,
    ...(note === null ? [] : [`The colleague tells you alone: ${withoutRemarks(note)}`]),
    'Go on from there in a sentence or two, and repeat nothing.',
  ];
  return parts.join('\n');
}
