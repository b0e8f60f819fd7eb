/** Texts of strangers that no database keeps: what is told of the call is kept all the same. */
import { afterEach, expect, test } from 'vitest';
import { storable } from '../../../../media/call/storable.ts';
import type { AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { isStorable } from '../../../../src/store/storable.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { Echo, echoKind } from '../agents/echo-agent.ts';

const HALF = '😀'.slice(0, 1);

let call: FakeCall;
afterEach(() => call?.close());

test('turns, events and checkpoints of a call', async () => {
  class Careless extends Echo {
    override state = (): unknown => ({ answers: this.answers, notes: [`a\u0000b ${HALF}`] });
  }
  const kind: AgentKind<ScriptedAgent> = { ...echoKind, create: (context) => new Careless(context) };
  call = await fakeCall({ kind });
  call.start();
  await call.agentStarts();
  call.registry.command('call-1', { type: 'text', text: `one\u0000 ${HALF} two 😀`, interrupt: true });
  await call.runUntil('the answer', () => call.turns.filter(({ role }) => role === 'agent').length === 2);
  expect(call.turns.find(({ role }) => role === 'user')?.text).toBe('one \ufffd two 😀');
  expect(call.checkpoints.at(-1)?.agent?.state).toMatchObject({ notes: ['ab \ufffd'] });
  expect(call.sent.every(isStorable)).toBe(true);
});

test('what can be kept is left as it is', () => {
  const value = { text: 'back\\u0000slash 😀', list: [1, null, true] };
  expect(storable(value)).toEqual(value);
});
