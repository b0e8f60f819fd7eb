/**
 * What a scenario file tests: the agent's definition, checked as an import checks it, with whom it asks and what it is
 * told. `--compare` puts another definition into its place. Called by `test-command.ts`.
 */
import { resolve } from 'node:path';
import type { AgentDefinition, CascadeAgent } from '../../media/contract/agent-definition.ts';
import { DEFAULT_MODEL_ENGINE } from '../../media/contract/engine-list.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { checkAgent } from '../../src/agents/check-agent.ts';
import { type Lexicon, loadLexicon } from '../../src/agents/lexicon.ts';
import { readAgent } from '../../src/agents/stored-agents.ts';
import { placeholdersOf } from '../../src/calls/call-setup.ts';
import type { CommandIo } from '../../src/cli/command-io.ts';
import { databaseFault } from '../../src/cli/database-fault.ts';
import { faultLines } from '../../src/errors/agent-faults.ts';
import { type Scenario as EmulatedScenario, readScenario } from '../emulators/providers/mind/scenario.ts';
import { type Environment, grantsOfUsual, grantsOfWorkspace, usualOf, usualThinkersOf } from './connections-of-test.ts';
import { EMULATED_CONNECTION, emulatedModels, type ModelsOfTest, NO_MODELS, realModels } from './models-of-test.ts';
import { faultsOf, isTeaching, type ReadFile, readJson, SeveralFaults, WrongUse } from './scenario-file.ts';
import type { Scenario, ScenarioFile } from './scenario-schema.ts';
import { toolFaults } from './tool-faults.ts';

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
  /** Somebody has to hear. */
  hasSound: boolean;
}

/** Where nothing else says who thinks and speaks. */
const STAND_IN: Pick<CascadeAgent, 'think' | 'speak'> = {
  think: [{ connection: EMULATED_CONNECTION, model: 'emulated-mini' }],
  speak: [{ engine: 'local', voice: 'slt' }],
};
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

/**
 * `version`: another than the file names: a number of a stored agent, or a definition's file. Throws `WrongUse` with
 * all that is wrong, before the first call.
 */
export async function subjectOf(read: ReadFile, deps: SubjectDeps, version?: string): Promise<Subject> {
  const { content, folder } = read;
  const { agent, model, judge } = content;
  const inFolder = (path: string): string => resolve(folder, path);
  const faults = new Set(read.faults);
  const noted = async <Value>(at: string, make: () => Value | Promise<Value>): Promise<Value | null> => {
    try {
      return await make();
    } catch (error) {
      const sentence = isTeaching(error) ? error.message : databaseFault(error);
      if (sentence === null) throw error;
      for (const line of error instanceof SeveralFaults ? error.lines : [sentence]) faults.add(`${at}${line}`);
      return null;
    }
  };
  const found = agent === undefined ? null : await noted('agent: ', () => definitionOf(agent, deps, inFolder, version));
  const given = model === undefined ? null : await noted('', () => givenBy(model, found?.json, deps, inFolder));
  const isOpen = found !== null && !('model' in read.json) && wantsModel({ ...found.json, ...content.change });
  if (isOpen)
    faults.add('model: is missing; write "model": { "environment": true } or "model": { "emulated": "rules.json" }');
  const definition =
    found === null || isOpen
      ? null
      : await noted('agent: ', () => {
          const filled = 'model' in read.json ? withModels(found.json, given) : found.json;
          return checked(found.about, { ...filled, ...content.change });
        });
  if (definition !== null) for (const fault of toolFaults(definition, read)) faults.add(fault);
  // Of what could not be read nothing can be asked.
  const isAskable = definition !== null && ('model' in read.json ? given !== null : true);
  const models = isAskable ? modelsOf(given, definition, deps) : null;
  if (models !== null && definition?.kind === 'cascade')
    for (const [index, asked] of definition.think.entries())
      await noted(`agent: think[${index}]: `, () => models.open({ engine: DEFAULT_MODEL_ENGINE, ...asked }, NO_CLOCK));
  if (models !== null && judge !== undefined) await noted('judge: ', () => models.open(judge, NO_CLOCK));
  if (faults.size > 0 || found === null || definition === null || models === null) {
    models?.close();
    throw faultsOf(read.path, [...faults]);
  }
  // Without a fault it was read whole.
  const file = content as ScenarioFile;
  return {
    file,
    definition,
    about: found.about,
    emulated: given?.emulated ?? null,
    models,
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
}

const NO_CLOCK = { nowMs: () => 0, epochMs: () => 0, after: () => () => {} };

async function definitionOf(
  agent: ScenarioFile['agent'],
  { io }: SubjectDeps,
  inFolder: (path: string) => string,
  version: string | undefined,
): Promise<{ json: object; about: string }> {
  const isNumber = version !== undefined && /^\d+$/.test(version);
  if (version !== undefined && !isNumber) return { json: bare(readJson(resolve(version))), about: version };
  if (typeof agent === 'string') {
    if (!isNumber) return { json: bare(readJson(inFolder(agent))), about: agent };
    throw new WrongUse(
      `is a file, which has no version ${version}; give --compare two files, or "agent": { "workspace": …, "id": … }`,
    );
  }
  const { workspace: slug, id: agentId, version: named } = agent;
  const wanted = isNumber ? Number(version) : named;
  const found = await readAgent(io.database(), { slug, agentId, version: wanted });
  return { json: found.definition, about: `${found.name}, version ${wanted ?? found.version}` };
}

/** The body of a request to the API has it one level down. */
function bare(json: unknown): object {
  const own =
    (Object.keys(json ?? {}).join() === 'definition' ? (json as { definition: unknown }).definition : json) ?? {};
  return own as object;
}

/** What the file's `model` comes to. */
interface Given extends Pick<CascadeAgent, 'think' | 'speak'> {
  /** Null: the models are real. */
  emulated: EmulatedScenario | null;
  grants: readonly ConnectionGrant[];
}

/** Throws `WrongUse`, and an `OperatorError` where there is no such workspace. */
async function givenBy(
  model: NonNullable<ScenarioFile['model']>,
  agent: object | undefined,
  { io, environment, hasSound }: SubjectDeps,
  inFolder: (path: string) => string,
): Promise<Given> {
  if ('emulated' in model) return { ...STAND_IN, emulated: emulatedOf(model.emulated, inFolder), grants: [] };
  if ('workspace' in model) {
    return { ...STAND_IN, emulated: null, grants: await grantsOfWorkspace(io, model.workspace) };
  }
  // A script is heard by the local recogniser.
  const hears = hasSound && (agent as { kind?: unknown } | undefined)?.kind === 'cascade';
  const { think, speak, connections } = hears ? usualOf(environment) : usualThinkersOf(environment);
  return { think, speak, emulated: null, grants: grantsOfUsual(connections) };
}

/** A prepared agent leaves open with what it thinks and speaks. */
function withModels(json: object, given: Given | null): object {
  const { kind, think = [], speak = [] } = json as Partial<CascadeAgent>;
  const usual = given ?? STAND_IN;
  if (kind !== 'cascade') return json;
  return { ...json, think: think.length > 0 ? think : usual.think, speak: speak.length > 0 ? speak : usual.speak };
}

/** It leaves open with what it thinks or speaks, and nothing says with whom. */
function wantsModel(json: object): boolean {
  const { kind, think = [], speak = [] } = json as Partial<CascadeAgent>;
  return kind === 'cascade' && (think.length === 0 || speak.length === 0);
}

function checked(about: string, json: unknown): AgentDefinition {
  lexicon ??= loadLexicon();
  const check = checkAgent(json, lexicon);
  if (!check.ok) {
    const lines = faultLines(check.faults).map((line) => `    ${line}`);
    throw new WrongUse(
      `${about} is no agent that could hold a call (docs/agents.md, docs/cascade.md):\n${lines.join('\n')}`,
    );
  }
  if (check.definition.kind !== 'tone') return check.definition;
  throw new WrongUse(`${about} plays a tone and says nothing that could be tested; name another`);
}

function emulatedOf(given: string | Record<string, unknown>, inFolder: (path: string) => string): EmulatedScenario {
  const json = typeof given === 'string' ? readJson(inFolder(given)) : given;
  const { scenario, faults } = readScenario(json);
  if (scenario !== null) return scenario;
  const at = typeof given === 'string' ? `${given}: ` : '';
  throw new SeveralFaults(faults.map((fault) => `model.emulated: ${at}${fault}`));
}

function modelsOf(given: Given | null, definition: AgentDefinition, { environment }: SubjectDeps): ModelsOfTest {
  if (given === null) return NO_MODELS;
  if (given.emulated !== null) return emulatedModels(given.emulated, definition);
  const allowCidrs = [...listOf(environment['MODEL_ALLOW_CIDRS']), ...listOf(environment['WEBHOOK_ALLOW_CIDRS'])];
  return realModels(given.grants, allowCidrs);
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
