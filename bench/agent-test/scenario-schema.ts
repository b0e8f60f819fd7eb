/**
 * What a scenario file may say: `docs/testing-agents.md` describes each field. Version 1. Read by `scenario-file.ts`,
 * which adds what no shape can tell. Pure.
 */
import { z } from 'zod';
import { ENDED_REASONS, type EndedReason } from '../../media/contract/call-outcome.ts';
import { ENGINES, type EngineName } from '../../media/contract/engine-list.ts';
import { TOOL_FAILURES } from '../../media/contract/tools.ts';

const text = z.string().min(1).max(2_000);

const pattern = z
  .string()
  .min(1)
  .max(500)
  .check((context) => {
    try {
      new RegExp(context.value, 'iu');
    } catch (error) {
      const message = `is no regular expression: ${(error as Error).message}`;
      context.issues.push({ code: 'custom', message, input: context.value });
    }
  });

/** One, or several that must all hold. */
const texts = z.union([text, z.array(text).min(1)], 'must be a text, or a list of texts');
const patterns = z.union([pattern, z.array(pattern).min(1)], 'must be a regular expression, or a list of them');

const toolUse = z.strictObject({
  name: z.string().min(1),
  /** Those that are named; a text that is written `/…/` is a regular expression. */
  arguments: z.record(z.string(), z.unknown()).optional(),
});

const state = z.strictObject({
  /** Of a script: where it stands. */
  step: z.string().min(1).optional(),
  variables: z.record(z.string(), z.string()).optional(),
});

const wordsExpected = {
  contains: texts.optional(),
  matches: patterns.optional(),
  not: z.strictObject({ contains: texts.optional(), matches: patterns.optional() }).optional(),
  /** Used in this order, others between them; an empty list: none at all. */
  tools: z.array(toolUse).optional(),
  state: state.optional(),
  /** For the judging model, in plain words. */
  judge: texts.optional(),
};

const replyExpected = z.strictObject(wordsExpected);

const callExpected = z.strictObject({
  ...wordsExpected,
  endedReason: z.enum(Object.keys(ENDED_REASONS) as [EndedReason, ...EndedReason[]]).optional(),
  disposition: z.string().optional(),
  /** How often the agent speaks. */
  agentTurns: z
    .union(
      [z.int().min(0), z.strictObject({ min: z.int().min(0).optional(), max: z.int().min(0).optional() })],
      'must be a number, or { "min": …, "max": … }',
    )
    .optional(),
});

const turn = z
  .strictObject({
    caller: text.optional(),
    keys: z
      .string()
      .regex(/^[0-9*#]{1,32}$/, 'must be 1 to 32 of 0-9, * and #')
      .optional(),
    silentSeconds: z.number().positive().max(600).optional(),
    hangsUp: z.literal(true).optional(),
    /** Of `caller`: into what the agent says, so long after it began. */
    interruptsAfterMs: z.int().min(0).max(60_000).optional(),
    expect: replyExpected.optional(),
  })
  .check((context) => {
    const { caller, keys, silentSeconds, hangsUp, interruptsAfterMs } = context.value;
    const acts = [caller, keys, silentSeconds, hangsUp].filter((one) => one !== undefined).length;
    const fault = (message: string) => context.issues.push({ code: 'custom', message, input: context.value });
    if (acts !== 1) fault(`must say one of "caller", "keys", "silentSeconds" and "hangsUp", not ${acts} of them`);
    if (interruptsAfterMs !== undefined && caller === undefined)
      fault('"interruptsAfterMs" is about "caller": say what the caller says then');
  });

/** How a use of a tool is answered; the first of a list whose `when` fits. */
const toolAnswer = z
  .strictObject({
    when: z.record(z.string(), z.unknown()).optional(),
    /** Texts in it may hold `{{arguments.NAME}}`. */
    returns: z.unknown().optional(),
    fails: z.enum(TOOL_FAILURES).optional(),
    afterMs: z.int().min(0).max(60_000).default(50),
  })
  .check((context) => {
    const { returns, fails } = context.value;
    if ((returns === undefined) !== (fails === undefined)) return;
    context.issues.push({ code: 'custom', message: 'must say one of "returns" and "fails"', input: context.value });
  });

/** Of a call. */
export const LONGEST_SECONDS = 3_600;

const rate = z.number().min(0).max(1);

export const scenarioSchema = z.strictObject({
  name: text.max(120),
  placeholders: z.record(z.string(), z.string()).optional(),
  /** Of what the agent says before the caller says anything. */
  opening: replyExpected.optional(),
  turns: z.array(turn).max(100).default([]),
  /** Of the whole call. */
  expect: callExpected.optional(),
  /** Of the call, and of the clock on the wall. */
  timeLimitSeconds: z.number().positive().max(LONGEST_SECONDS).default(180),
  repeat: z.int().min(1).max(1_000).optional(),
  minPassRate: rate.optional(),
  tools: z.record(z.string(), z.union([z.literal('real'), toolAnswer, z.array(toolAnswer).min(1)])).optional(),
});

export const scenarioFileSchema = z.strictObject({
  schema: z.literal(1),
  /** A definition's file, beside this one; or one that a workspace has. */
  agent: z.union([
    z.string().min(1),
    z.strictObject({ workspace: z.string().min(1), id: z.string().min(1), version: z.int().min(1).optional() }),
  ]),
  /** Fields of the definition that are others in tests. */
  change: z.record(z.string(), z.unknown()).optional(),
  model: z
    .union([
      z.strictObject({ emulated: z.union([z.string().min(1), z.record(z.string(), z.unknown())]) }),
      z.strictObject({ environment: z.literal(true) }),
      z.strictObject({ workspace: z.string().min(1) }),
    ])
    .optional(),
  judge: z
    .strictObject({
      connection: z.string().min(1),
      /** Absent: that of the connection's provider. */
      engine: z.enum(Object.keys(ENGINES.think) as EngineName<'think'>[]).optional(),
      model: z.string().min(1),
      /** Of the same question; the majority counts. */
      asks: z.int().min(1).max(15).default(3),
    })
    .optional(),
  placeholders: z.record(z.string(), z.string()).default({}),
  tools: scenarioSchema.shape.tools,
  scenarios: z.array(scenarioSchema).min(1),
});

export type ScenarioFile = z.output<typeof scenarioFileSchema>;
export type Scenario = ScenarioFile['scenarios'][number];
export type ScenarioTurn = Scenario['turns'][number];
export type ReplyExpected = z.output<typeof replyExpected>;
export type CallExpected = z.output<typeof callExpected>;
export type ToolUseExpected = z.output<typeof toolUse>;
export type ToolAnswers = NonNullable<Scenario['tools']>[string];
