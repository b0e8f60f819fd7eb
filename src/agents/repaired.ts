/**
 * An agent whose shape is at fault, made whole enough for its meaning to be checked too: what has the wrong type gets a
 * stand-in, so that one slip hides no other. Only `check-agent.ts` sees the result, and forgets it.
 */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';

export interface ShapeIssue {
  code: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

/** What checks of meaning read without asking. All else may be absent. */
const AGENT = {
  name: 'x',
  direction: 'any',
  language: 'en-US',
  voice: 'slt',
  script: 'x',
  greeting: 'x',
  steps: [],
  fallback: { say: [], after: 1, goto: 'x' },
  idle: { promptAfterMs: 1000, say: [], endAfterMs: 2000 },
} as const;
const FALLBACK = AGENT.fallback;
const IDLE = AGENT.idle;
const STEP = { id: 'x', goto: 'x', expect: 'none' };
const REPLY = { intent: '', phrases: [] };
const TOOL_USE = { name: '', goto: '' };
/** Of the right type, and still at fault: the value says more than a stand-in. */
const TYPE_HOLDS = new Set([
  'too_small',
  'too_big',
  'invalid_format',
  'custom',
  'unrecognized_keys',
  'not_multiple_of',
]);

/** Where a fault makes what leads where a guess. */
const WAYS = new Set(['steps', 'fallback', 'tools']);

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Null: too little is there, or it is of another kind. `isWhole` false: ways through the steps
 * and uses of tools cannot be judged.
 */
export function repaired(
  json: unknown,
  issues: readonly ShapeIssue[],
): { agent: ScriptedAgent; isWhole: boolean } | null {
  if (!isObject(json) || !Array.isArray(json['steps'])) return null;
  if (json['kind'] === 'tone' || json['kind'] === 'cascade') return null;
  const agent = structuredClone(json);
  const broken = issues.filter(({ code }) => !TYPE_HOLDS.has(code));
  // The deepest first, so that a stand-in is not taken apart again.
  for (const { path } of [...broken].sort((a, b) => b.path.length - a.path.length)) drop(agent, path);
  agent['kind'] = 'scripted';
  fill(agent, AGENT);
  fill(agent['fallback'], FALLBACK);
  fill(agent['idle'], IDLE);
  for (const step of agent['steps'] as unknown[]) {
    if (!isObject(step)) return null;
    fill(step, 'replies' in step || 'tool' in step || 'end' in step ? { id: 'x' } : STEP);
    for (const reply of (step['replies'] ?? []) as unknown[]) fill(reply, REPLY);
    if ('tool' in step) fill(step['tool'], TOOL_USE);
    if ('end' in step) fill(step['end'], { reason: 'agent_hangup' });
  }
  const isWhole = !issues.some(({ code, path }) => code !== 'unrecognized_keys' && WAYS.has(String(path[0])));
  return { agent: agent as unknown as ScriptedAgent, isWhole };
}

function drop(agent: Json, path: readonly PropertyKey[]): void {
  let holder: unknown = agent;
  for (const part of path.slice(0, -1)) holder = (holder as Record<PropertyKey, unknown> | undefined)?.[part];
  const last = path.at(-1);
  if (Array.isArray(holder) && typeof last === 'number') {
    // Its place stays taken, so that the paths of those behind it are right.
    holder[last] =
      path[0] === 'steps' && path.length === 2 ? { ...STEP } : path.at(-2) === 'replies' ? { ...REPLY } : 'yes';
  } else if (isObject(holder) && typeof last === 'string') delete holder[last];
}

function fill(value: unknown, standIns: Readonly<Record<string, unknown>>): void {
  if (!isObject(value)) return;
  for (const [name, standIn] of Object.entries(standIns)) value[name] ??= structuredClone(standIn);
}
