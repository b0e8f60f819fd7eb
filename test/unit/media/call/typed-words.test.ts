/** Typed words that come in quick succession: each reaches the agent, also while what it says is still being cut. */
import { afterEach, expect, test } from 'vitest';
import type { AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { Echo, echoKind } from '../agents/echo-agent.ts';

let call: FakeCall;
afterEach(() => call.close());

/** What the agent was told. */
async function listened(): Promise<string[]> {
  const heard: string[] = [];
  class Listening extends Echo {
    override handle(event: AgentEvent): void {
      if (event.type === 'heard') heard.push(event.text);
      super.handle(event);
    }
  }
  const kind: AgentKind<ScriptedAgent> = { ...echoKind, create: (context) => new Listening(context) };
  call = await fakeCall({ kind });
  call.start();
  await call.agentStarts();
  await call.run(600);
  return heard;
}

const type = (text: string, interrupt = true): void =>
  void call.registry.command('call-1', { type: 'text', text, interrupt });

const callersWords = (): string[] => call.story().filter((turn) => turn.startsWith('user'));

test('two at once into what the agent says are one turn, with the words of both', async () => {
  const heard = await listened();
  type('one');
  type('two');
  await call.run(4_000);
  expect(heard).toEqual(['one two']);
  expect(callersWords()).toEqual(['user: one two']);
});

test('one that waits for the agent comes after one that does not', async () => {
  const heard = await listened();
  type('one', false);
  type('two');
  await call.run(6_000);
  expect(heard).toEqual(['two', 'one']);
});

test.each([true, false])(
  'what the agent was not told when the call ended is in the transcript (interrupts: %s)',
  async (interrupt) => {
    const heard = await listened();
    type('cancel my order', interrupt);
    call.close();
    expect(heard).toEqual([]);
    expect(callersWords()).toEqual(['user: cancel my order']);
  },
);
