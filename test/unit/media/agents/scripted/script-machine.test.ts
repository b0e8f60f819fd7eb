import { describe, expect, test } from 'vitest';
import { ScriptMachine } from '../../../../../media/agents/scripted/script-machine.ts';
import type { ScriptAction, ScriptEvent } from '../../../../../media/agents/scripted/script-types.ts';
import type { ScriptedAgent } from '../../../../../media/contract/agent-definition.ts';
import { sampleAgent } from '../../../../support/sample-agent.ts';

function machineOf(agent: ScriptedAgent = sampleAgent(), maxDurationMs = 600_000) {
  const machine = new ScriptMachine({ agent, placeholders: { customer_name: 'Asha' }, maxDurationMs });
  let atMs = 0;
  const log: string[] = [];
  const feed = (event: ScriptEvent) => {
    const actions = machine.handle(event);
    for (const action of actions) log.push(brief(action));
    return actions;
  };
  return {
    machine,
    log,
    at: (ms: number) => {
      atMs = ms;
    },
    start: () => feed({ type: 'start', atMs, checkpoint: null }),
    said: () => feed({ type: 'said', atMs }),
    heard: (text: string) => feed({ type: 'heard', atMs, text }),
    unclear: () => feed({ type: 'unclear', atMs }),
    feed,
    /** Ticks each 100 ms until `untilMs`, from where time stands. */
    tickUntil: (untilMs: number) => {
      for (; atMs <= untilMs; atMs += 100) feed({ type: 'tick', atMs });
      atMs = untilMs;
    },
    takeLog: () => log.splice(0),
  };
}

function brief(action: ScriptAction): string {
  switch (action.type) {
    case 'say':
      return `say ${action.purpose}: ${action.text}`;
    case 'listen':
      return `listen ${action.stepId} ${action.expect}`;
    case 'step':
      return `step ${action.stepId}`;
    case 'tool':
      return `tool ${action.name} ${JSON.stringify(action.arguments)}`;
    case 'warning':
      return `warning ${action.code}${action.key === undefined ? '' : ` ${action.key} ${action.count}`}`;
    case 'end':
      return `end ${action.reason} ${action.disposition}`;
  }
}

describe('the conversation', () => {
  test('runs from the greeting over digits and a name to the end, which comes after the last words were played', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.said();
    call.heard('yes please');
    call.said();
    call.heard('it is four two');
    call.said();
    call.heard('my name is john');
    expect(call.takeLog()).toEqual([
      'listen null yesno',
      'say greeting: Hello Asha, this is the dental office.',
      'step ask',
      'listen ask yesno',
      'say step: Can you come on tuesday at three?',
      'step order',
      'listen order digits',
      'say step: What is your order number?',
      'step name',
      'listen name open',
      'say step: And your name?',
      'step thanks',
      'listen thanks none',
      'say step: Thank you John, order 42 it is.',
    ]);
    expect(call.machine.snapshot().variables).toEqual({
      order: '42',
      said: 'it is four two',
      who: 'John',
      kind: 'known',
    });
    call.said();
    expect(call.takeLog()).toEqual(['step bye', 'listen bye open', 'say step: Goodbye.']);
    call.said();
    expect(call.takeLog()).toEqual(['end agent_hangup done']);
    call.said();
    call.heard('yes');
    expect(call.takeLog()).toEqual([]);
  });

  test('words that fit the first step answer it even while the greeting is still being said', () => {
    const call = machineOf();
    call.start();
    call.takeLog();
    call.feed({ type: 'interrupted', atMs: 900 });
    call.heard('no thank you');
    expect(call.takeLog()[0]).toBe('step bye');
  });

  test('words that fit nothing during the greeting lead to the first question and are no miss', () => {
    const call = machineOf();
    call.start();
    call.takeLog();
    call.feed({ type: 'interrupted', atMs: 900 });
    call.unclear();
    expect(call.takeLog()).toContain('say step: Can you come on tuesday at three?');
    expect(call.machine.snapshot().misses).toBe(0);
  });

  test('a reply without goto asks the question again, with the next of its variants', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.said();
    call.takeLog();
    call.heard('say that again');
    expect(call.takeLog()).toEqual(['step ask', 'listen ask yesno', 'say step: Can you come on tuesday at three?']);
  });

  test('after 2 fallback lines in turn, the third miss goes to the fallback step', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.said();
    call.takeLog();
    call.unclear();
    call.said();
    call.heard('bananas');
    call.said();
    call.unclear();
    expect(call.takeLog()).toEqual([
      'say fallback: Sorry, I did not get that.',
      'say fallback: Could you say that again?',
      'step bye',
      'listen bye open',
      'say step: Goodbye.',
    ]);
  });

  test('an unresolved placeholder is said as nothing and warned of once for each text, with its key and how often it stands there', () => {
    const call = machineOf(sampleAgent({ greeting: 'Hi {{nobody}}, and {{nobody}}.' }));
    call.start();
    expect(call.log.filter((line) => line.startsWith('warning'))).toEqual(['warning placeholder_unresolved nobody 2']);
    expect(call.log.at(-1)).toBe('say greeting: Hi , and .');
  });
});

describe('silence', () => {
  test('prompts come 8 s after the end of playback, in turn, and the call ends 30 s after the question was played', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.at(5_000);
    call.said();
    call.takeLog();
    call.tickUntil(12_900);
    expect(call.takeLog()).toEqual([]);
    call.tickUntil(13_000);
    expect(call.takeLog()).toEqual(['say idle: Are you still there?']);
    call.at(14_000);
    call.said();
    call.tickUntil(21_900);
    expect(call.takeLog()).toEqual([]);
    call.tickUntil(22_000);
    expect(call.takeLog()).toEqual(['say idle: Hello?']);
    call.at(23_000);
    call.said();
    call.tickUntil(34_900);
    expect(call.takeLog()).toEqual(['say idle: Are you still there?']);
    call.said();
    call.tickUntil(35_000);
    expect(call.takeLog()).toEqual(['end inactivity null']);
  });

  test('no prompt while the caller speaks, nor within 1.5 s of the caller’s sound', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.said();
    call.takeLog();
    call.feed({ type: 'caller', atMs: 7_000, speaking: true });
    call.at(7_100);
    call.tickUntil(11_000);
    call.feed({ type: 'caller', atMs: 11_000, speaking: false });
    call.tickUntil(12_400);
    expect(call.takeLog()).toEqual([]);
    call.tickUntil(12_500);
    expect(call.takeLog()).toEqual(['say idle: Are you still there?']);
  });

  test('a hold is no miss: the agent waits in silence and prompts after 8 s', () => {
    const call = machineOf();
    call.start();
    call.said();
    call.takeLog();
    call.feed({ type: 'interrupted', atMs: 1_000 });
    call.feed({ type: 'hold', atMs: 2_000 });
    call.at(2_000);
    call.tickUntil(9_900);
    expect(call.takeLog()).toEqual([]);
    call.tickUntil(10_000);
    expect(call.takeLog()).toEqual(['say idle: Are you still there?']);
  });

  describe('a hold in a sentence that expects nothing', () => {
    const steps = sampleAgent().steps.map((step) =>
      step.id === 'thanks' ? { ...step, say: ['Thank you {{who}}.', 'Thanks again.'] } : step,
    );
    const AGAIN = ['step thanks', 'listen thanks none', 'say step: Thank you John.'];

    function heldCall() {
      const call = machineOf(sampleAgent({ steps }));
      call.start();
      call.feed({ type: 'heard', atMs: 0, text: 'yes' });
      call.heard('four two');
      call.heard('my name is john');
      expect(call.takeLog().at(-1)).toBe(AGAIN.at(-1));
      call.feed({ type: 'interrupted', atMs: 1_000 });
      call.feed({ type: 'hold', atMs: 2_000 });
      call.at(2_000);
      return call;
    }

    function goesOn(call: ReturnType<typeof heldCall>) {
      call.said();
      expect(call.takeLog()).toEqual(['step bye', 'listen bye open', 'say step: Goodbye.']);
    }

    test('it is said again behind the prompt, in the same variant, and the script goes on', () => {
      const call = heldCall();
      call.tickUntil(10_000);
      expect(call.takeLog()).toEqual(['say idle: Are you still there?']);
      call.said();
      expect(call.takeLog()).toEqual(AGAIN);
      goesOn(call);
    });

    test('whoever answers the prompt in so many words has it once more, and then a miss is a miss', () => {
      const call = heldCall();
      call.tickUntil(10_000);
      call.said();
      call.takeLog();
      call.feed({ type: 'interrupted', atMs: 12_000 });
      call.heard('yes i am');
      expect(call.takeLog()).toEqual(AGAIN);
      call.feed({ type: 'interrupted', atMs: 14_000 });
      call.heard('bananas');
      expect(call.takeLog()).toEqual(['say fallback: Sorry, I did not get that.']);
    });

    test('the last words are not said twice: behind the prompt the call ends', () => {
      const call = machineOf();
      call.start();
      call.feed({ type: 'heard', atMs: 0, text: 'no' });
      call.feed({ type: 'hold', atMs: 2_000 });
      call.at(2_000);
      call.takeLog();
      call.tickUntil(10_000);
      call.said();
      expect(call.takeLog()).toEqual(['say idle: Are you still there?', 'end agent_hangup done']);
    });

    test.each(['heard', 'unclear'] as const)('whatever is said then (%s) is the word to go on, and no miss', (type) => {
      const call = heldCall();
      call.feed(type === 'heard' ? { type, atMs: 4_000, text: 'okay' } : { type, atMs: 4_000 });
      expect(call.takeLog()).toEqual(AGAIN);
      expect(call.machine.snapshot().misses).toBe(0);
      call.unclear();
      expect(call.takeLog()).toEqual(['say fallback: Sorry, I did not get that.']);
      goesOn(call);
    });
  });
});

describe('the longest time', () => {
  test('ends the call while it listens', () => {
    const call = machineOf(sampleAgent(), 20_000);
    call.start();
    call.said();
    call.at(13_000);
    call.said();
    call.takeLog();
    call.tickUntil(20_000);
    expect(call.takeLog()).toEqual(['end max_duration_reached null']);
  });

  test('lets the sentence that is being said end, but waits 5 s for it at most', () => {
    const patient = machineOf(sampleAgent(), 20_000);
    patient.start();
    patient.at(19_000);
    patient.tickUntil(21_000);
    patient.said();
    expect(patient.log.at(-1)).toBe('end max_duration_reached null');

    const stuck = machineOf(sampleAgent(), 20_000);
    stuck.start();
    stuck.at(19_000);
    stuck.tickUntil(24_900);
    expect(stuck.machine.ended).toBe(false);
    stuck.tickUntil(25_000);
    expect(stuck.log.at(-1)).toBe('end max_duration_reached null');
  });
});

describe('going on from a checkpoint', () => {
  test('says a bridge and repeats the question with the variables, not the greeting', () => {
    const before = machineOf();
    before.start();
    before.said();
    before.said();
    before.heard('yes');
    before.said();
    before.unclear();
    const snapshot = before.machine.snapshot();

    const after = machineOf();
    after.feed({ type: 'start', atMs: 9_000, checkpoint: snapshot });
    expect(after.log).toEqual([
      'step order',
      'listen order digits',
      'say step: Sorry, I lost you for a moment. What is your order number?',
    ]);
    expect(after.machine.snapshot().misses).toBe(1);
  });

  test('a checkpoint from within the greeting goes on at the first step', () => {
    const call = machineOf();
    const checkpoint = { stepId: null, variables: {}, misses: 0, visits: {} };
    call.feed({ type: 'start', atMs: 0, checkpoint });
    expect(call.log.at(-1)).toBe('say step: Sorry, I lost you for a moment. Can you come on tuesday at three?');
  });
});

describe('a definition that no import check has seen', () => {
  test('an unknown target ends the call with internal_error', () => {
    const call = machineOf(sampleAgent({ steps: [{ id: 'a', expect: 'none', goto: 'nowhere' }] }));
    call.start();
    call.said();
    expect(call.log.at(-1)).toBe('end internal_error null');
  });

  test('steps that go round in silence end the call instead of hanging the thread', () => {
    const steps = [
      { id: 'a', expect: 'none' as const, goto: 'b' },
      { id: 'b', expect: 'none' as const, goto: 'a' },
    ];
    const call = machineOf(sampleAgent({ steps }));
    call.start();
    call.said();
    expect(call.log.slice(-2)).toEqual(['warning script_loop', 'end internal_error null']);
  });
});
