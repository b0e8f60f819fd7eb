/**
 * What the emulated model answers: what `reading.ts` says where JSON is wanted, else the first rule of the scenario
 * that fits the request's own messages and tools. Pure; called once a request by the chat endpoint.
 */
import type { AskedMessage, AskedQuestion, OfferedTool } from './question.ts';
import { readingFor } from './reading.ts';
import { fillTemplate, type Rule, type Scenario, type ScriptedAnswer } from './scenario.ts';
import { valueFor } from './strict-schema.ts';

export interface ToolCall {
  name: string;
  /** As it is sent: mostly JSON. */
  arguments: string;
}

export interface Answer {
  /** Null where it only calls tools. */
  text: string | null;
  calls: ToolCall[];
  scripted: ScriptedAnswer;
  /** For the journal: a name, an index, or `otherwise`. */
  rule: string;
}

/** As the rule of an answer, where none fits. */
export const OTHERWISE = 'otherwise';

type Values = Record<string, unknown>;

export function answerTo(scenario: Scenario, request: AskedQuestion): Answer {
  const reading = readingFor(request);
  if (reading !== null) return { text: reading, calls: [], scripted: scenario.otherwise, rule: 'reading' };
  for (const [index, rule] of scenario.rules.entries()) {
    if (!mayAnswer(rule, request)) continue;
    const values = valuesIn(rule.when, request.messages);
    if (values !== null) return filled(rule, values, request, rule.name ?? String(index));
  }
  const forced = forcedTool(request);
  if (forced === null) return filled(scenario.otherwise, {}, request, OTHERWISE);
  const call = {
    name: forced.function.name,
    arguments: JSON.stringify(valueFor(forced.function.parameters ?? { type: 'object' })),
  };
  return { text: null, calls: [call], scripted: { ...scenario.otherwise, say: undefined }, rule: OTHERWISE };
}

/** What was offered and what was asked for (`tool_choice`) leave this rule open. */
function mayAnswer(rule: Rule, { model, tools, toolChoice }: AskedQuestion): boolean {
  if (rule.when.model !== undefined && rule.when.model !== model) return false;
  if (rule.call.length === 0) return toolChoice === 'auto' || toolChoice === 'none';
  if (toolChoice === 'none') return false;
  if (typeof toolChoice === 'object' && rule.call.some(({ tool }) => tool !== toolChoice.name)) return false;
  return rule.call.every(({ tool, isUnknown }) => isUnknown || tools.some(({ function: { name } }) => name === tool));
}

function forcedTool({ tools, toolChoice }: AskedQuestion): OfferedTool | null {
  if (toolChoice === 'required') return tools[0] ?? null;
  if (typeof toolChoice !== 'object') return null;
  return tools.find(({ function: { name } }) => name === toolChoice.name) ?? null;
}

/** Null when it does not fit; else what its patterns captured. */
function valuesIn(when: Rule['when'], messages: readonly AskedMessage[]): Values | null {
  const user = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const values: Values = { user };
  const results = resultsAtEnd(messages);
  if ((when.result === undefined) !== (results.length === 0)) return null;
  for (const { role, matches } of when.unless) if (lastMatch(messages, role, matches) !== null) return null;
  for (const { role, matches } of when.history) {
    const match = lastMatch(messages, role, matches);
    if (match === null) return null;
    Object.assign(values, match.groups);
  }
  if (when.user !== undefined) {
    const match = new RegExp(when.user, 'iu').exec(user);
    if (match === null) return null;
    Object.assign(values, match.groups);
  }
  if (when.result !== undefined) {
    const { tool, matches } = when.result;
    for (const { name, text } of results) {
      const match = name === tool ? new RegExp(matches ?? '', 'iu').exec(text) : null;
      if (match !== null) return { ...values, ...match.groups, result: parsed(text) };
    }
    return null;
  }
  return values;
}

function lastMatch(messages: readonly AskedMessage[], role: string, matches: string): RegExpExecArray | null {
  const expression = new RegExp(matches, 'iu');
  for (const message of messages.toReversed()) {
    const match = message.role === role ? expression.exec(message.text) : null;
    if (match !== null) return match;
  }
  return null;
}

/** The results that the request ends with, each with its tool's name. */
function resultsAtEnd(messages: readonly AskedMessage[]): { name: string; text: string }[] {
  const asked = messages.findLastIndex(({ role }) => role !== 'tool');
  const calls = messages[asked]?.calls ?? [];
  return messages
    .slice(asked + 1)
    .map(({ callId, text }) => ({ name: calls.find(({ id }) => id === callId)?.name ?? '', text }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function filled(answer: ScriptedAnswer, values: Values, request: AskedQuestion, rule: string): Answer {
  const calls = answer.call.map(({ tool, arguments: given, rawArguments }) => ({
    name: tool,
    arguments: rawArguments ?? JSON.stringify(filledDeep(given, values)),
  }));
  const text = answer.say === undefined ? null : fillTemplate(answer.say, values);
  return { text, calls: request.parallelCalls ? calls : calls.slice(0, 1), scripted: answer, rule };
}

function filledDeep(value: unknown, values: Values): unknown {
  if (typeof value === 'string') return fillTemplate(value, values);
  if (Array.isArray(value)) return value.map((one) => filledDeep(one, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filledDeep(one, values)]));
}
