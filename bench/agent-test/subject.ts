/**
 * What a scenario file tests: the agent's definition, checked as an import checks it, with whom it asks and what it is
 * told. `--compare` puts another definition into its place. Called by `test-command.ts`.
 */
import { resolve } from 'node:path';
import type { AgentDefinition, CascadeAgent } from '../../media/contract/agent-definition.ts';
import { DEFAULT_MODEL_ENGINE } from '../../media/contract/engine-list.ts';
import { checkAgent } from '../../src/agents/check-agent.ts';
import { type Lexicon, loadLexicon } from '../../src/agents/lexicon.ts';
import { readAgent } from '../../src/agents/stored-agents.ts';
import { placeholdersOf } from '../../src/calls/call-setup.ts';
import type { CommandIo } from '../../src/cli/command-io.ts';
import { faultLines } from '../../src/errors/agent-faults.ts';
import { type Scenario as EmulatedScenario, parseScenario } from '../emulators/providers/mind/scenario.ts';
import { type Environment, grantsOfUsual, grantsOfWorkspace, usualOf } from './connections-of-test.ts';
import { emulatedModels, type ModelsOfTest, NO_MODELS, realModels } from './models-of-test.ts';
import { type ReadFile, readJson, WrongUse } from './scenario-file.ts';
import type { Scenario, ScenarioFile } from './scenario-schema.ts';

export interface Subject {
  file: ScenarioFile;
  definition: AgentDefinition;
  /** For reports: `agent.json`, `version 3`. */
  about: string;
  models: ModelsOfTest;
  /** What the emulated model knows; null: the models are real, or there are none. */
  emulated: EmulatedScenario | null;
  /** Private ranges in which real tools may lie. */
  allowCidrs: readonly string[];
  placeholdersFor(scenario: Pick<Scenario, 'placeholders'>): Record<string, string>;
}

export interface SubjectDeps {
  io: CommandIo;
  environment: Environment;
}

const EMULATED_THINK: CascadeAgent['think'] = [
  { connection: 'brain', engine: DEFAULT_MODEL_ENGINE, model: 'emulated-mini' },
];
const LOCAL_SPEAK: CascadeAgent['speak'] = [{ engine: 'local', voice: 'slt' }];
/** Of the calls that nobody made. */
const TEST_CALL = {
  callUuid: '00000000-0000-7000-8000-000000000000',
  toNumber: '+15550100',
  fromNumber: '+15550101',
  direction: 'outbound' as const,
  name: '',
  leadValues: {},
};
const EPOCH_MS = Date.UTC(2026, 0, 7, 12);

let lexicon: Lexicon | undefined;

/** `version`: another than the file names: a number of a stored agent, or a definition's file. Throws `WrongUse`. */
export async function subjectOf(read: ReadFile, deps: SubjectDeps, version?: string): Promise<Subject> {
  const { content: file, folder } = read;
  const inFolder = (path: string): string => resolve(folder, path);
  const { json, about } = await definitionOf(read, deps, inFolder, version);
  const { model } = file;
  const emulated = model !== undefined && 'emulated' in model ? emulatedOf(read, model.emulated, inFolder) : null;
  const definition = checked(read.path, about, withModels({ ...(json as object), ...file.change }, file, deps));
  const missing = emulatedToolsMissing(definition, file);
  if (missing !== null) throw new WrongUse(`${read.path}: ${missing}`);
  const subject: Subject = {
    file,
    definition,
    about,
    emulated,
    models: await modelsOf(file, deps, emulated),
    allowCidrs: listOf(deps.environment['WEBHOOK_ALLOW_CIDRS']),
    placeholdersFor: ({ placeholders }) =>
      placeholdersOf(
        {
          ...TEST_CALL,
          name: placeholders?.['customer_name'] ?? file.placeholders['customer_name'] ?? '',
          metadata: { ...file.placeholders, ...placeholders },
        },
        definition,
        EPOCH_MS,
      ),
  };
  // A connection that is not there is told before the first call.
  if (definition.kind === 'cascade') for (const asked of definition.think) subject.models.open(asked, NO_CLOCK);
  if (file.judge !== undefined) subject.models.open(file.judge, NO_CLOCK);
  return subject;
}

const NO_CLOCK = { nowMs: () => 0, epochMs: () => 0, after: () => () => {} };

async function definitionOf(
  { path, content }: ReadFile,
  { io }: SubjectDeps,
  inFolder: (path: string) => string,
  version: string | undefined,
): Promise<{ json: unknown; about: string }> {
  const { agent } = content;
  const isNumber = version !== undefined && /^\d+$/.test(version);
  if (version !== undefined && !isNumber) return { json: bare(readJson(resolve(version))), about: version };
  if (typeof agent === 'string') {
    if (!isNumber) return { json: bare(readJson(inFolder(agent))), about: agent };
    throw new WrongUse(
      `${path}: agent: is a file, which has no version ${version}; give --compare two files, or "agent": { "workspace": …, "id": … }`,
    );
  }
  const { workspace: slug, id: agentId, version: named } = agent;
  const wanted = isNumber ? Number(version) : named;
  const found = await readAgent(io.database(), { slug, agentId, version: wanted });
  return { json: found.definition, about: `${found.name}, version ${wanted ?? found.version}` };
}

/** The body of a request to the API has it one level down. */
function bare(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Object.keys(json).join() !== 'definition') return json;
  return (json as { definition: unknown }).definition;
}

/** A prepared agent leaves open with what it thinks and speaks. */
function withModels(json: object, { model }: ScenarioFile, { environment }: SubjectDeps): object {
  const { kind, think = [], speak = [] } = json as Partial<CascadeAgent>;
  if (kind !== 'cascade' || model === undefined) return json;
  const usual = 'environment' in model ? usualOf(environment) : { think: EMULATED_THINK, speak: LOCAL_SPEAK };
  return { ...json, think: think.length > 0 ? think : usual.think, speak: speak.length > 0 ? speak : usual.speak };
}

function checked(path: string, about: string, json: unknown): AgentDefinition {
  lexicon ??= loadLexicon();
  const check = checkAgent(json, lexicon);
  if (!check.ok) {
    const lines = faultLines(check.faults).map((line) => `  ${line}`);
    throw new WrongUse(
      `${path}: agent: ${about} is no agent that could hold a call (docs/agents.md, docs/cascade.md):\n${lines.join('\n')}`,
    );
  }
  if (check.definition.kind !== 'tone') return check.definition;
  throw new WrongUse(`${path}: agent: ${about} plays a tone and says nothing that could be tested; name another`);
}

function emulatedToolsMissing(definition: AgentDefinition, { tools, scenarios }: ScenarioFile): string | null {
  const own = (definition.kind === 'tone' ? undefined : definition.tools) ?? [];
  const names = own.map(({ name }) => name);
  for (const { name } of own) {
    if (tools?.[name] !== undefined || scenarios.every((one) => one.tools?.[name] !== undefined)) continue;
    return `tools.${name}: the agent has this tool, and the file does not say how it is answered; add "${name}": { "returns": … }, or "real" to ask its endpoint`;
  }
  for (const name of [tools, ...scenarios.map((one) => one.tools)].flatMap((one) => Object.keys(one ?? {}))) {
    if (!names.includes(name))
      return `tools.${name}: the agent has no such tool; it has ${names.join(', ') || 'none'}: correct its name, or take it out`;
  }
  return null;
}

function emulatedOf(
  read: ReadFile,
  given: string | Record<string, unknown>,
  inFolder: (path: string) => string,
): EmulatedScenario {
  try {
    return parseScenario(typeof given === 'string' ? readJson(inFolder(given)) : given);
  } catch (error) {
    if (error instanceof WrongUse) throw error;
    throw new WrongUse(`${read.path}: model.emulated: ${(error as Error).message}`);
  }
}

async function modelsOf(
  { model }: ScenarioFile,
  { io, environment }: SubjectDeps,
  emulated: EmulatedScenario | null,
): Promise<ModelsOfTest> {
  if (emulated !== null) return emulatedModels(emulated);
  const allowCidrs = [...listOf(environment['MODEL_ALLOW_CIDRS']), ...listOf(environment['WEBHOOK_ALLOW_CIDRS'])];
  if (model === undefined || 'emulated' in model) return NO_MODELS;
  if ('environment' in model) return realModels(grantsOfUsual(usualOf(environment)), allowCidrs);
  return realModels(await grantsOfWorkspace(io, model.workspace), allowCidrs);
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
