/** A voice that breaks off in the middle of what the agent says: the agent is told how much of it was heard. */
import { afterEach, expect, test } from 'vitest';
import type { AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { Echo, echoKind } from '../agents/echo-agent.ts';

let call: FakeCall | undefined;
afterEach(() => call?.close());

test('what broke off is told with what was heard of it, as the transcript has it', async () => {
  const told: Extract<AgentEvent, { type: 'said' }>[] = [];
  class Listening extends Echo {
    override handle(event: AgentEvent): void {
      if (event.type === 'said') told.push(event);
      super.handle(event);
    }
  }
  const kind: AgentKind<ScriptedAgent> = { ...echoKind, create: (context) => new Listening(context) };
  call = await fakeCall({ kind });
  call.start();
  await call.agentFinishes('This is an echo, say something that I can say back.');
  told.length = 0;
  call.voice.failures = [null, new Error('it broke')];
  call.registry.command('call-1', { type: 'text', text: 'one two three four', interrupt: true });
  await call.run(8_000);
  expect(told.map(({ brokeOff }) => brokeOff)).toEqual([[{ index: 0, heardText: 'You said one two three four.' }]]);
  expect(call.story().at(-1)).toContain('You said one two three four.');
});
