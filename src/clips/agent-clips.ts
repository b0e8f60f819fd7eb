/**
 * Which clips an agent's definition names, and whether they are there. Read from the JSON as it came, whatever else is
 * wrong with it, so that all faults are told at once; a checked definition gets the texts that
 * its clips have themselves.
 */
import type { AgentDefinition, ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { ScriptedClip, ScriptedLine } from '../../media/contract/clip.ts';
import { type AgentFault, type PathPart, pathText } from '../errors/agent-faults.ts';
import type { Queryable } from '../store/database.ts';
import { type Clip, holdClips } from './clip-rows.ts';

interface NamedClip {
  at: PathPart[];
  clip: string;
  text: string | undefined;
}

const MOST_NAMED = 20;

/** Every place of a definition where a clip may stand. */
export function clipsNamedIn(definition: unknown): NamedClip[] {
  const { greeting, steps, fallback, idle } = record(definition);
  const found = linesAt(greeting, ['greeting']);
  if (Array.isArray(steps)) {
    steps.forEach((step, index) => {
      found.push(...linesAt(record(step)['say'], ['steps', index, 'say']));
    });
  }
  return [
    ...found,
    ...linesAt(record(fallback)['say'], ['fallback', 'say']),
    ...linesAt(record(idle)['say'], ['idle', 'say']),
  ];
}

function linesAt(value: unknown, at: PathPart[]): NamedClip[] {
  if (Array.isArray(value)) return value.flatMap((line, index) => linesAt(line, [...at, index]));
  const { clip, text } = record(value);
  return typeof clip === 'string' ? [{ at, clip, text: typeof text === 'string' ? text : undefined }] : [];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export interface HeldClips {
  faults: AgentFault[];
  /** The definition with the text of every clip that it names. */
  filled(definition: AgentDefinition): AgentDefinition;
}

/** Its clips stay until the transaction ends. */
export async function holdClipsOf(tx: Queryable, workspaceId: string, definition: unknown): Promise<HeldClips> {
  const named = clipsNamedIn(definition);
  if (named.length === 0) return { faults: [], filled: (checked) => checked };
  const clips = await holdClips(tx, workspaceId);
  return {
    faults: named.flatMap((one) => faultOf(one, clips)),
    filled: (checked) => (checked.kind === 'scripted' ? withTexts(checked, clips) : checked),
  };
}

/** An id wins over a name. */
export function clipCalled<Found extends Pick<Clip, 'id' | 'name'>>(
  clips: readonly Found[],
  called: string,
): Found | undefined {
  return clips.find(({ id }) => id === called.toLowerCase()) ?? clips.find(({ name }) => name === called);
}

function faultOf({ at, clip, text }: NamedClip, clips: readonly Clip[]): AgentFault[] {
  const found = clipCalled(clips, clip);
  if (found === undefined) {
    const names = clips.map(({ name }) => name);
    const listed = names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), '…'] : names;
    const others = names.length === 0 ? 'the workspace has none yet' : `the clips are ${listed.join(', ')}`;
    return [{ path: pathText([...at, 'clip']), problem: `there is no clip '${clip}'; ${others}` }];
  }
  if (text !== undefined || found.text !== '') return [];
  const problem = `is missing, and the clip '${found.name}' has no text of its own; write what it says, for the transcript (of music, say "[music]")`;
  return [{ path: pathText([...at, 'text']), problem }];
}

function withTexts(agent: ScriptedAgent, clips: readonly Clip[]): ScriptedAgent {
  const one = (line: ScriptedLine): ScriptedLine => (typeof line === 'string' ? line : withText(line, clips));
  return {
    ...agent,
    greeting: one(agent.greeting),
    steps: agent.steps.map((step) =>
      step.say === undefined ? step : { ...step, say: Array.isArray(step.say) ? step.say.map(one) : one(step.say) },
    ),
    fallback: { ...agent.fallback, say: agent.fallback.say.map(one) },
    idle: { ...agent.idle, say: agent.idle.say.map(one) },
  };
}

function withText(line: ScriptedClip, clips: readonly Clip[]): ScriptedClip {
  return { ...line, text: line.text ?? clipCalled(clips, line.clip)?.text ?? '' };
}

export interface AgentUse {
  agentId: string;
  name: string;
}

/** The agents whose current version plays it. */
export async function agentsThatUse(
  database: Queryable,
  workspaceId: string,
  clip: Pick<Clip, 'id' | 'name'>,
): Promise<AgentUse[]> {
  const rows = await database.query<{ agentId: string; name: string; definition: AgentDefinition }>(
    `SELECT a.id AS "agentId", a.name, v.definition FROM agents a
     JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
     WHERE a.workspace_id = $1 AND a.deleted_at IS NULL AND v.definition::text LIKE '%"clip"%' ORDER BY a.name, a.id`,
    [workspaceId],
  );
  return rows
    .filter(({ definition }) => clipsNamedIn(definition).some(({ clip: called }) => clipCalled([clip], called)))
    .map(({ agentId, name }) => ({ agentId, name }));
}
