/**
 * What an emulated model knows and how it behaves: a list of rules, read from a JSON file. Nothing is remembered
 * between requests; a rule sees the request's own messages and tools (`rules.ts`). Read by `main.ts` and by tests.
 */
import { z } from 'zod';
import { issueLines } from '../../../harness/shape-faults.ts';
import { RESPONSE_FORMATS } from './question.ts';

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;

const pattern = z.string().check((context) => {
  try {
    new RegExp(context.value, 'iu');
  } catch (error) {
    context.issues.push({
      code: 'custom',
      message: `is no regular expression: ${(error as Error).message}`,
      input: context.value,
    });
  }
});

/** Some message of this role, whose captures count from its latest occurrence. `system` is `developer` too. */
const inHistorySchema = z.strictObject({ role: z.enum(ROLES), matches: pattern });

const whenSchema = z.strictObject({
  /** Which of the scenario's models is asked; absent: any. */
  model: z.string().optional(),
  /** The last message of the user; it need not be the last of the request. */
  user: pattern.optional(),
  history: z.array(inHistorySchema).default([]),
  /** None of these may be there. */
  unless: z.array(inHistorySchema).default([]),
  /**
   * The request ends with results of tools, and one of them is of this tool. A rule without it fits only a request that
   * does not end so.
   */
  result: z.strictObject({ tool: z.string(), matches: pattern.optional() }).optional(),
});

const callSchema = z.strictObject({
  tool: z.string(),
  /** Strings in it are templates. */
  arguments: z.record(z.string(), z.unknown()).default({}),
  /** Sent as they are instead: `{"day": tues` is no JSON. */
  rawArguments: z.string().optional(),
  /** It is called although the request does not offer it. */
  isUnknown: z.boolean().default(false),
});

const timingSchema = z.strictObject({
  /** From the request's arrival to the first token. */
  firstTokenMs: z.number().nonnegative().default(300),
  /** Between tokens. */
  tokenMs: z.number().nonnegative().default(15),
});

const answerSchema = z.strictObject({
  /** A template: `{{day}}` is a capture, `{{user}}` the user's last message, `{{result.seats}}` of a tool's result. */
  say: z.string().optional(),
  call: z.array(callSchema).default([]),
  timing: timingSchema.optional(),
  /** The text over and over, until the client goes or `max_completion_tokens` are full. */
  repeats: z.boolean().default(false),
  /** Nothing comes, not even a first chunk, until the client goes. */
  streamsNothing: z.boolean().default(false),
  /** What the last chunk says instead of `stop` or `tool_calls`. */
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  /**
   * The stream ends in the middle: without its last word, or with an error in it, a server's own or that of a limit. (A
   * reset is a fault.)
   */
  cut: z.strictObject({ afterTokens: z.int().nonnegative(), by: z.enum(['end', 'error', 'rate_limit']) }).optional(),
});

const ruleSchema = answerSchema.extend({
  name: z.string().optional(),
  when: whenSchema.default({ history: [], unless: [] }),
});

/** Ways in which servers that call themselves compatible differ from the first one. */
const dialectSchema = z.strictObject({
  /** Parameters that this server does not know: 400. */
  refuses: z.array(z.string()).default([]),
  /** What it knows of `response_format`. */
  formats: z.array(z.enum(RESPONSE_FORMATS)).default([...RESPONSE_FORMATS]),
  /** A call in one delta, with all of its arguments. */
  wholeCalls: z.boolean().default(false),
  /** Calls without `index`. */
  callsWithoutIndex: z.boolean().default(false),
  /** `stop` where it calls tools. */
  finishesCallsWithStop: z.boolean().default(false),
  /** Sent as `reasoning_content` before the answer. */
  reasoning: z.string().default(''),
  /** A comment every so often while nothing else is sent. */
  keepAliveMs: z.number().positive().optional(),
});

const scenarioSchema = z.strictObject({
  models: z.array(z.string()).min(1).default(['emulated-mini']),
  contextTokens: z.int().positive().default(128_000),
  timing: timingSchema.default({ firstTokenMs: 300, tokenMs: 15 }),
  dialect: dialectSchema.default({
    refuses: [],
    formats: [...RESPONSE_FORMATS],
    wholeCalls: false,
    callsWithoutIndex: false,
    finishesCallsWithStop: false,
    reasoning: '',
  }),
  /** The first that fits answers. */
  rules: z.array(ruleSchema),
  /** What it does when none fits. */
  otherwise: answerSchema.default({
    say: 'I am sorry, I did not understand that.',
    call: [],
    repeats: false,
    streamsNothing: false,
  }),
});

export type Scenario = z.output<typeof scenarioSchema>;
export type ScenarioInput = z.input<typeof scenarioSchema>;
export type Rule = Scenario['rules'][number];
export type ScriptedAnswer = Scenario['otherwise'];

const PLACEHOLDER = /\{\{\s*([\w.]+)\s*\}\}/g;
const CAPTURE = /\(\?<(\w+)>/g;

/** Throws with the rule, the field and the way out. */
export function parseScenario(value: unknown): Scenario {
  const read = readScenario(value);
  if (read.scenario !== null) return read.scenario;
  throw new Error(`scenario of the emulated model: ${read.faults.join('; ')}`);
}

type ReadScenario = { scenario: Scenario; faults: [] } | { scenario: null; faults: string[] };

/** Each fault with its path and the way out. */
export function readScenario(value: unknown): ReadScenario {
  const read = scenarioSchema.safeParse(value, { reportInput: false });
  if (!read.success)
    return { scenario: null, faults: read.error.issues.flatMap((issue) => issueLines(issue, 'all of it')) };
  const { rules, otherwise } = read.data;
  const faults = [
    ...rules.flatMap((rule, index) => templateFaults(rule, `rules[${index}] (${rule.name ?? 'unnamed'})`)),
    ...templateFaults({ ...otherwise, when: { history: [], unless: [] } }, 'otherwise'),
  ];
  return faults.length > 0 ? { scenario: null, faults } : { scenario: read.data, faults: [] };
}

/** A placeholder that no pattern fills would be spoken. */
function templateFaults(rule: Pick<Rule, 'say' | 'call' | 'when'>, where: string): string[] {
  const patterns = [rule.when.user, rule.when.result?.matches, ...rule.when.history.map(({ matches }) => matches)];
  const known = new Set(['user', ...(rule.when.result === undefined ? [] : ['result'])]);
  for (const one of patterns) for (const [, name] of (one ?? '').matchAll(CAPTURE)) known.add(name!);
  const texts = [rule.say ?? '', ...rule.call.map((call) => JSON.stringify(call.arguments))];
  const named = texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, path]) => path!));
  return named.flatMap((path) => {
    const name = path.split('.', 1)[0]!;
    if (known.has(name)) return [];
    return [
      `${where} names {{${path}}}, which nothing fills: it knows ${[...known].join(', ')}; capture it by (?<${name}>…) in \`when\``,
    ];
  });
}

/**
 * `values` holds captures and results. A path that leads nowhere is empty, as a model says nothing of what it was not
 * told.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(PLACEHOLDER, (_whole, path: string) => {
    const value = path
      .split('.')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
