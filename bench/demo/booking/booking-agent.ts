/**
 * The demo's scripted agent, with a tool: a visit is booked in the middle of the call, and the agent says what the
 * client's endpoint answered.
 */
import type { AgentDefinition, ScriptedAgent, ScriptedStep } from '../../../media/contract/agent-definition.ts';
import { startToolEndpoint, type ToolEndpoint } from '../tool-endpoint.ts';

export function startBookingEndpoint(): Promise<ToolEndpoint> {
  return startToolEndpoint(() => ({ doctor: 'Doctor Lee', time: 'four' }));
}

/** The demo's agent, but it books by `url` what the callee agrees to. */
export function bookingAgent(demo: AgentDefinition, url: string): ScriptedAgent {
  if (demo.kind !== 'scripted') throw new Error('the demo agent follows a script');
  const agent = structuredClone(demo);
  const step = (id: string): ScriptedStep => {
    const found = agent.steps.find((one) => one.id === id);
    if (found === undefined) throw new Error(`the demo agent has no step '${id}'`);
    return found;
  };
  const book = (id: string, day: string, goto: string): ScriptedStep => ({
    id,
    tool: { name: 'book_visit', arguments: { day }, saying: 'Very well, one moment.', goto, onError: goto },
  });
  step('confirm').replies!.find((reply) => reply.intent === 'confirmed')!.goto = 'book';
  for (const reply of step('reschedule').replies!) reply.goto = 'rebook';
  step('rebooked').say = 'Done. I have moved you to {{day}} at {{time | three}}.';
  step('details').say = `You will see {{doctor | one of our dentists}}. ${step('details').say}`;
  agent.steps.push(book('book', '{{appointment_day | Tuesday}}', 'details'), book('rebook', '{{day}}', 'rebooked'));
  agent.tools = [
    {
      name: 'book_visit',
      description: 'Books a visit on a day; answers with the dentist and the time.',
      url,
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      // A busy machine's endpoint is waited for: an agent that gives up on it has nothing to tell.
      timeoutMs: 30_000,
      responseVariables: { doctor: '$.doctor', time: '$.time' },
    },
  ];
  return agent;
}
