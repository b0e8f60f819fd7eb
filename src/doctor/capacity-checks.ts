/**
 * How many calls at once this machine carries, of the agents that are stored here: the engines
 * are timed, the scripts are read.
 */
import { execFile } from 'node:child_process';
import type { AgentDefinition, ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { Queryable } from '../store/database.ts';
import { carriedCalls, type EngineSpeed, type MachineShape } from './agent-load.ts';
import { type CheckResult, ok } from './check.ts';

const NAME = 'calls at once';
/** The youngest of more are looked at; the fewest calls of any of them count. */
const MOST_AGENTS = 200;
const SHOWN = 3;

export async function measureEngines(engineSpeedEntry: string, limitMs: number): Promise<EngineSpeed> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [engineSpeedEntry], { timeout: limitMs }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.signal ?? `code ${error.code}`}: ${stderr.trim().split('\n').at(-1) ?? ''}`));
    });
  });
  return JSON.parse(output) as EngineSpeed;
}

export async function readAgents(database: Queryable): Promise<AgentDefinition[]> {
  const rows = await database.query<{ definition: AgentDefinition }>(
    `SELECT v.definition FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
     WHERE a.deleted_at IS NULL ORDER BY a.id DESC LIMIT ${MOST_AGENTS}`,
  );
  return rows.map(({ definition }) => definition);
}

export function checkCapacity(
  all: readonly AgentDefinition[],
  speed: EngineSpeed,
  machine: MachineShape,
): CheckResult[] {
  const agents = all.filter((agent): agent is ScriptedAgent => agent.kind === 'scripted');
  const engines =
    `a second of speech takes ${speed.voiceMsPerSecond.toFixed(0)} ms to say ` +
    `and ${speed.recogniserMsPerSecond.toFixed(0)} ms to hear`;
  if (all.length === 0) return [ok(NAME, `no agents to tell it of; ${engines}`)];
  if (agents.length === 0) {
    const many = all.length === 1 ? 'the agent that there is follows' : `none of the ${all.length} agents follows`;
    const only = all.length === 1 ? `${many} no script` : `${many} a script`;
    return [ok(NAME, `${only}, of which alone it can be told beforehand; ${engines}`)];
  }
  const found = agents
    .map((agent) => ({ agent, ...carriedCalls(agent, speed, machine) }))
    .sort((a, b) => a.calls - b.calls);
  const shown = found
    .slice(0, SHOWN)
    .map(({ agent, calls, scarce }) => `about ${calls} of "${agent.name}", then ${scarce} is full`);
  const more = found.length > SHOWN ? `; more of the other ${found.length - SHOWN}` : '';
  return [ok(NAME, `${shown.join('; ')}${more} (${engines})`)];
}
