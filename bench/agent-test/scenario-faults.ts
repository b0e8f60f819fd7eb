/**
 * What is wrong with a scenario file, all of it at once: its shape, and what no shape can tell of what can be read of
 * it all the same. A line a fault, with its path and the way out. Pure; called by `scenario-file.ts`.
 */
import type { z } from 'zod';
import { type Issue, issueLines } from '../harness/shape-faults.ts';
import {
  LONGEST_SECONDS,
  type Scenario,
  type ScenarioFile,
  scenarioFileSchema,
  scenarioSchema,
} from './scenario-schema.ts';

type Json = Record<string, unknown>;

export interface JudgedFile {
  /** Where there are faults: what could be read of it. */
  content: Partial<ScenarioFile>;
  faults: string[];
}

export function judgeFile(json: Json): JudgedFile {
  const parsed = scenarioFileSchema.safeParse(json, { reportInput: false });
  const given = Array.isArray(json['scenarios']) ? (json['scenarios'] as unknown[]) : [];
  const read = given.map((one) => readableOf(scenarioSchema, one));
  const faults = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => issueLines(issue, 'the file'))),
    ...nameFaults(given),
    ...read.flatMap((one, index) => (one === null ? [] : meaningFaults(one, `scenarios[${index}]`, 'judge' in json))),
  ];
  return { content: parsed.success ? parsed.data : partsOf(json), faults };
}

/** Every field that can be read by itself. */
function partsOf(json: Json): Partial<ScenarioFile> {
  const { scenarios: _each, ...shape } = scenarioFileSchema.shape;
  const parts = Object.entries(shape).flatMap(([name, schema]) => {
    const read = readableOf(schema, json[name]);
    return read?.value === undefined ? [] : [[name, read.value]];
  });
  return Object.fromEntries(parts) as Partial<ScenarioFile>;
}

interface Readable<Value> {
  value: Value;
  /** Nothing was left out. */
  isWhole: boolean;
}

/** Without the fields that are at fault; null: it cannot be read without them. */
function readableOf<Schema extends z.ZodType>(schema: Schema, value: unknown): Readable<z.output<Schema>> | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, isWhole: true };
  const rest = structuredClone(value);
  for (const issue of parsed.error.issues as Issue[]) leaveOut(rest, issue);
  const again = schema.safeParse(rest);
  return again.success ? { value: again.data, isWhole: false } : null;
}

/** No element of a list: the others keep their places. */
function leaveOut(value: unknown, { code, path, keys = [] }: Issue): void {
  const ways = code === 'unrecognized_keys' ? keys.map((key) => [...path, key]) : [path];
  for (const way of ways) {
    const holder = way.slice(0, -1).reduce((at, part) => (at as Json | undefined)?.[part as string], value);
    const last = way.at(-1);
    if (typeof holder === 'object' && holder !== null && typeof last === 'string') delete (holder as Json)[last];
  }
}

function nameFaults(scenarios: readonly unknown[]): string[] {
  const names = scenarios.map((one) => (one as { name?: unknown } | null)?.name);
  return names.flatMap((name, index) => {
    const before = names.indexOf(name);
    if (typeof name !== 'string' || before === index) return [];
    return [
      `scenarios[${index}].name: is the name of scenarios[${before}] too; reports tell them apart by it: give it another`,
    ];
  });
}

function meaningFaults({ value: scenario, isWhole }: Readable<Scenario>, at: string, hasJudge: boolean): string[] {
  const faults: string[] = [];
  const { opening, turns, expect, timeLimitSeconds } = scenario;
  const ends = turns.findIndex(({ hangsUp }) => hangsUp === true);
  if (ends >= 0 && ends < turns.length - 1)
    faults.push(`${at}.turns[${ends + 1}]: comes after the caller has hung up; take it out`);
  let silentSeconds = 0;
  for (const [index, turn] of turns.entries()) {
    const before = silentSeconds;
    silentSeconds += turn.silentSeconds ?? 0;
    if (before >= timeLimitSeconds || silentSeconds < timeLimitSeconds) continue;
    const all = before === 0 ? `is ${silentSeconds}` : `makes ${silentSeconds} s of silence`;
    const enough = Math.ceil(silentSeconds) + 60;
    const more = enough > LONGEST_SECONDS ? '' : `, or write "timeLimitSeconds": ${enough}`;
    faults.push(
      `${at}.turns[${index}].silentSeconds: ${all}, and the call is ended after ${timeLimitSeconds} s; make it shorter${more}`,
    );
  }
  const expected = [opening, ...turns.map((turn) => turn.expect), expect];
  // What it expects may be what is at fault.
  const isEmpty = isWhole && expected.every((one) => one === undefined || Object.keys(one).length === 0);
  if (isEmpty) faults.push(`${at}: expects nothing, so it can not fail; add "expect" to a turn or to the scenario`);
  if (!hasJudge && expected.some((one) => one?.judge !== undefined))
    faults.push(`${at}: "judge" wants a judging model: add "judge": { "connection": …, "model": … } to the file`);
  return faults;
}
