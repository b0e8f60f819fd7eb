/**
 * What was expected of a call, held against what it was: one line an expectation, with what was there instead. Called
 * by `run-scenario.ts`.
 */
import { matches } from './bounded-match.ts';
import { agentWords, type HeldCall, type HeldToolUse, toolLine, transcriptLines } from './held-call.ts';
import { isPart } from './is-part.ts';
import { type Judge, spreadOf } from './judge.ts';
import type { CallExpected, ReplyExpected, Scenario, ToolUseExpected } from './scenario-schema.ts';

export interface Checked {
  /** What was expected, where: the same in each run. */
  what: string;
  /** Null: the judge could not say. */
  held: boolean | null;
  /** What was there instead. */
  why: string;
  /** The judge was not of one mind. */
  spread?: string;
}

export async function checkCall(scenario: Scenario, held: HeldCall, judge: Judge | null): Promise<Checked[]> {
  const { opening, turns, expect } = scenario;
  const all = await checkWords(opening ?? {}, held, 0, 'the opening', judge);
  for (const [index, turn] of turns.entries()) {
    if (turn.expect === undefined) continue;
    const about = turn.caller ?? (turn.keys === undefined ? 'silence' : `keys ${turn.keys}`);
    const at = `turn ${index + 1} (${JSON.stringify(shortened(about, 40))})`;
    all.push(...(await checkWords(turn.expect, held, index + 1, at, judge)));
  }
  if (expect !== undefined) {
    all.push(...(await checkWords(expect, held, null, 'the call', judge)));
    all.push(...checkEnd(expect, held));
  }
  return all;
}

/** `exchange` null: of the whole call. */
async function checkWords(
  expected: ReplyExpected,
  held: HeldCall,
  exchange: number | null,
  at: string,
  judge: Judge | null,
): Promise<Checked[]> {
  const said = agentWords(held, exchange);
  const shown = said === '' ? 'the agent said nothing' : `the agent said ${JSON.stringify(shortened(said, 400))}`;
  const { contains, matches: patterns, not, tools, state, judge: sentences } = expected;
  const checked: Checked[] = [];
  const note = (what: string, isHeld: boolean, why: string): void =>
    void checked.push({ what: `${at}: ${what}`, held: isHeld, why: isHeld ? '' : why });
  const has = (text: string): boolean => plain(said).includes(plain(text));
  for (const text of listOf(contains)) note(`says ${JSON.stringify(text)}`, has(text), shown);
  for (const text of listOf(patterns)) note(`matches /${text}/`, matches(text, said), shown);
  for (const text of listOf(not?.contains)) note(`does not say ${JSON.stringify(text)}`, !has(text), shown);
  for (const text of listOf(not?.matches)) note(`does not match /${text}/`, !matches(text, said), shown);
  if (tools !== undefined) {
    const used = held.tools.filter((use) => exchange === null || use.exchange === exchange);
    const line = used.length === 0 ? 'it used no tool' : `it used ${used.map(toolLine).join('; ')}`;
    note(toolsText(tools), isUsed(tools, used), line);
  }
  if (state !== undefined) {
    const now = (exchange === null ? held.states.at(-1) : held.states[exchange]) ?? { step: null, variables: {} };
    if (state.step !== undefined) note(`is at step '${state.step}'`, now.step === state.step, `it is at ${now.step}`);
    for (const [name, value] of Object.entries(state.variables ?? {})) {
      const own = now.variables[name];
      const why = own === undefined ? `'${name}' has no value` : `'${name}' is ${JSON.stringify(own)}`;
      note(`'${name}' is ${JSON.stringify(value)}`, own !== undefined && isPart(value, own), why);
    }
  }
  for (const sentence of listOf(sentences)) {
    if (judge === null) continue;
    const verdict = await judge(transcriptLines(held, exchange), sentence);
    const spread = spreadOf(verdict);
    const split = spread ?? `the judge, asked ${verdict.yes + verdict.no} times, is of one mind`;
    checked.push({
      what: `${at}: the judge holds ${JSON.stringify(sentence)}`,
      held: verdict.holds,
      why: verdict.holds === true ? '' : `${split}: ${verdict.why}`,
      ...(spread === null ? {} : { spread }),
    });
  }
  return checked;
}

function checkEnd({ endedReason, disposition, agentTurns }: CallExpected, held: HeldCall): Checked[] {
  const checked: Checked[] = [];
  const { end } = held;
  const note = (what: string, isHeld: boolean, why: string): void =>
    void checked.push({ what: `the call: ${what}`, held: isHeld, why: isHeld ? '' : why });
  const ended =
    end === null ? 'it did not end' : `it ended with ${end.reason}${end.error === null ? '' : ` (${end.error})`}`;
  if (endedReason !== undefined) note(`ends with ${endedReason}`, end?.reason === endedReason, ended);
  if (disposition !== undefined) {
    const why = end === null ? ended : `it is ${end.disposition ?? 'none'}`;
    note(`has the disposition '${disposition}'`, end?.disposition === disposition, why);
  }
  if (agentTurns !== undefined) {
    const count = held.turns.filter(({ who }) => who === 'agent').length;
    const { min = 0, max = Number.POSITIVE_INFINITY } =
      typeof agentTurns === 'number' ? { min: agentTurns, max: agentTurns } : agentTurns;
    const wanted = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
    note(`has ${wanted} turns of the agent`, count >= min && count <= max, `it has ${count}`);
  }
  return checked;
}

/** In this order, others between them; an empty list: none at all. */
function isUsed(expected: readonly ToolUseExpected[], used: readonly HeldToolUse[]): boolean {
  if (expected.length === 0) return used.length === 0;
  let at = 0;
  for (const use of used) {
    const next = expected[at];
    if (next !== undefined && next.name === use.name && isPart(next.arguments ?? {}, use.arguments)) at++;
  }
  return at === expected.length;
}

function toolsText(tools: readonly ToolUseExpected[]): string {
  if (tools.length === 0) return 'uses no tool';
  const uses = tools.map(
    ({ name, arguments: args }) => `${name}${args === undefined ? '' : `(${JSON.stringify(args)})`}`,
  );
  return `uses ${uses.join(', then ')}`;
}

const listOf = <One>(given: One | readonly One[] | undefined): readonly One[] =>
  given === undefined ? [] : ([given].flat() as One[]);

/** Words are compared without regard to capitals, curly quotes and how they are spaced. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\s+/g, ' ');
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
