import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ScriptMachine } from '../../../../../media/agents/scripted/script-machine.ts';
import type { ScriptEvent } from '../../../../../media/agents/scripted/script-types.ts';
import type { ScriptedAgent, ScriptedStep } from '../../../../../media/contract/agent-definition.ts';
import { toolFailed } from '../../../../../media/contract/tools.ts';
import { sampleAgent } from '../../../../support/sample-agent.ts';

const SEED = 20_261_121;
const END_AFTER_MS = 30_000;
/** A gate that never closes stops the idle clock for this long at most. */
const LONGEST_CALLER_SPEECH_MS = 60_000;

const stepId = fc.constantFrom('a', 'b', 'c', 'd', 'nowhere');
const phrase = fc.constantFrom('yes', 'no', '<digits>', 'my name is <name>', 'it is <digits>');

const step = fc.record<Omit<ScriptedStep, 'id'>>(
  {
    say: fc.oneof(
      fc.constantFrom('', 'Well?', 'Order {{order}}?'),
      fc.array(fc.constantFrom('One?', 'Two?'), { maxLength: 2 }),
    ),
    interruptible: fc.boolean(),
    expect: fc.constantFrom('open', 'yesno', 'digits', 'spelling', 'none'),
    replies: fc.array(
      fc.record(
        {
          intent: fc.string(),
          phrases: fc.array(phrase, { maxLength: 3 }),
          set: fc.constant({ order: '$digits' }),
          goto: stepId,
        },
        { requiredKeys: ['intent', 'phrases'] },
      ),
      { maxLength: 3 },
    ),
    goto: stepId,
    tool: fc.record({ name: fc.constant('t'), goto: stepId, onError: stepId }),
    end: fc.record({ reason: fc.constantFrom('agent_hangup', 'opt_out_requested', 'nonsense') }),
  },
  { requiredKeys: [] },
);

const agents: fc.Arbitrary<ScriptedAgent> = fc
  .record({
    steps: fc.array(step, { minLength: 0, maxLength: 4 }),
    greeting: fc.constantFrom('', 'Hello {{customer_name}}.'),
    fallbackSay: fc.array(fc.constantFrom('Sorry?', ''), { maxLength: 2 }),
    after: fc.integer({ min: 0, max: 3 }),
    goto: stepId,
    idleSay: fc.array(fc.constantFrom('Still there?', ''), { maxLength: 2 }),
  })
  .map(({ steps, greeting, fallbackSay, after, goto, idleSay }) =>
    sampleAgent({
      greeting,
      steps: steps.map((one, index) => ({ id: 'abcd'[index]!, ...one })),
      fallback: { say: fallbackSay, after, goto },
      idle: { promptAfterMs: 8_000, say: idleSay, endAfterMs: END_AFTER_MS },
    }),
  );

type Stroke = {
  waitMs: number;
  event: Exclude<ScriptEvent['type'], 'start' | 'tick'>;
  text: string;
  speaking: boolean;
};
const strokes: fc.Arbitrary<Stroke[]> = fc.array(
  fc.record({
    waitMs: fc.integer({ min: 0, max: 12_000 }),
    event: fc.constantFrom('said', 'interrupted', 'heard', 'unclear', 'hold', 'caller', 'tool'),
    text: fc.constantFrom('', 'yes', 'no', 'four two', 'my name is ann', 'bananas'),
    speaking: fc.boolean(),
  }),
  { maxLength: 30 },
);

const FAILED = toolFailed('timeout', 'No answer.');

test('10,000 random agents and event orders: never a throw, never two ends, never deaf and dumb for longer than the idle time', () => {
  fc.assert(
    fc.property(agents, strokes, (agent, events) => {
      const machine = new ScriptMachine({ agent, placeholders: {}, maxDurationMs: 3_600_000 });
      let ends = 0;
      let says = 0;
      let saying = false;
      const feed = (event: ScriptEvent) => {
        for (const action of machine.handle(event)) {
          expect(ends).toBe(0);
          if (action.type === 'end') ends++;
          if (action.type === 'say') {
            says++;
            saying = true;
            expect(action.text).not.toBe('');
          }
        }
      };
      let atMs = 0;
      feed({ type: 'start', atMs, checkpoint: null });
      for (const { waitMs, event, text, speaking } of events) {
        for (let passedMs = 0; passedMs < waitMs; passedMs += 1_000) feed({ type: 'tick', atMs: atMs + passedMs });
        atMs += waitMs;
        if (event === 'said') saying = false;
        if (event === 'heard') feed({ type: 'heard', atMs, text });
        else if (event === 'caller') feed({ type: 'caller', atMs, speaking });
        else if (event === 'tool') {
          feed({ type: 'tool', atMs, answer: speaking ? { ok: true, status: 200, result: text } : FAILED });
        } else feed({ type: event, atMs });
      }
      // From here on nobody says a word; what the agent says is played within 2 s.
      const quietSinceMs = atMs;
      const saysBefore = says;
      while (
        ends === 0 &&
        says === saysBefore &&
        atMs < quietSinceMs + END_AFTER_MS + LONGEST_CALLER_SPEECH_MS + 4_000
      ) {
        if (saying) {
          atMs += 2_000;
          saying = false;
          feed({ type: 'said', atMs });
        }
        atMs += 500;
        feed({ type: 'tick', atMs });
      }
      expect(ends + (says - saysBefore)).toBeGreaterThan(0);
    }),
    { numRuns: 10_000, seed: SEED },
  );
});
