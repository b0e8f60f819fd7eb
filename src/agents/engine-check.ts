/**
 * Whether the engines that an agent which converses names are there, and take what it gives them: voices, languages,
 * settings. Called by `cascade-check.ts`. Whether their connections are there only the database knows
 * (`src/connections/connection-uses.ts`).
 */
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import {
  DEFAULT_MODEL_ENGINE,
  type EngineSetting,
  engineDeclaration,
  engineNames,
} from '../../media/contract/engine-list.ts';
import type { ProviderAbility } from '../../media/contract/providers.ts';
import type { PathPart, Report } from '../errors/agent-faults.ts';

const LOCAL_ENGINE = 'local';
/** The local voice and recogniser know no other. */
const ENGLISH = /^en\b/;
/** Recognisers for English alone, which have others beside them. */
const ENGLISH_MODELS: readonly string[] = ['flux-general-en', 'universal-streaming-english'];
const ASSEMBLYAI_MODES: readonly unknown[] = ['min_latency', 'balanced', 'max_accuracy'];

interface Use {
  engine: string;
  connection?: string;
  voice?: string;
  settings?: Readonly<Record<string, unknown>>;
}

/** `warn`: it works, and likely not as it is meant. */
export function checkEngines(agent: CascadeAgent, report: Report, warn: Report): void {
  checkUse(agent, 'listen', agent.listen, ['listen'], report);
  checkListenSettings(agent, report);
  checkListenModel(agent, report, warn);
  agent.speak.forEach((voice, index) => {
    checkUse(agent, 'speak', voice, ['speak', index], report);
  });
  const seen = new Set<string>();
  agent.think.forEach((model, index) => {
    checkUse(agent, 'think', { ...model, engine: model.engine ?? DEFAULT_MODEL_ENGINE }, ['think', index], report);
    const key = `${model.connection}\n${model.model}`;
    if (seen.has(key)) {
      const asked = `asks '${model.model}' of '${model.connection}' a second time; a backup is another one`;
      report(['think', index], asked);
    }
    seen.add(key);
  });
}

function checkUse(
  { language }: CascadeAgent,
  ability: ProviderAbility,
  { engine, connection, voice, settings = {} }: Use,
  at: readonly PathPart[],
  report: Report,
): void {
  const declared = engineDeclaration(ability, engine);
  if (declared === undefined) {
    report(
      [...at, 'engine'],
      `'${engine}' is no engine that can ${ability}; there are ${engineNames(ability).join(', ')}`,
    );
    return;
  }
  if (engine === LOCAL_ENGINE) {
    if (connection !== undefined) report([...at, 'connection'], 'means nothing to the local engine; take it out');
    if (!ENGLISH.test(language)) {
      report([...at, 'engine'], `is the local one, which knows English only, and the language is ${language}`);
    }
  } else if (connection === undefined) {
    report([...at, 'connection'], `is missing; '${engine}' is used by a connection: parley connection add`);
  }
  if (voice !== undefined && declared.voices !== undefined && !declared.voices.includes(voice)) {
    report([...at, 'voice'], `'${voice}' is no voice of '${engine}'; use one of ${declared.voices.join(', ')}`);
  }
  for (const [name, value] of Object.entries(settings)) {
    const known = Object.hasOwn(declared.settings, name) ? declared.settings[name] : undefined;
    const problem = known === undefined ? unknownSetting(engine, declared.settings) : problemOf(known, value);
    if (problem !== null) report([...at, 'settings', name], problem);
  }
}

function unknownSetting(engine: string, settings: Readonly<Record<string, EngineSetting>>): string {
  const names = Object.keys(settings);
  return `is no setting of '${engine}'; ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}`;
}

/** Null: it will do. */
function problemOf(setting: EngineSetting, value: unknown): string | null {
  if (setting.type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false';
  if (setting.type === 'text') return typeof value === 'string' && value !== '' ? null : 'must be a text';
  const { least, most, isWhole = false, mayBeNull = false } = setting;
  if (value === null && mayBeNull) return null;
  const fits = typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value));
  return fits
    ? null
    : `must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}${mayBeNull ? ', or null' : ''}`;
}

/** What two settings are together. */
function checkListenSettings({ listen }: CascadeAgent, report: Report): void {
  const { engine, settings = {} } = listen;
  const fault = (name: string, problem: string): void => report(['listen', 'settings', name], problem);
  if (engine === 'deepgram-flux') {
    const { endOfTurnThreshold: end = 0.7, eagerEndOfTurnThreshold: eager } = settings;
    if (typeof end === 'number' && typeof eager === 'number' && eager > end)
      fault('eagerEndOfTurnThreshold', `must not be above endOfTurnThreshold (${end})`);
  } else if (engine === 'assemblyai') {
    const { mode, minTurnSilenceMs: least, maxTurnSilenceMs: most } = settings;
    if (typeof mode === 'string' && mode !== '' && !ASSEMBLYAI_MODES.includes(mode))
      fault('mode', `must be one of ${ASSEMBLYAI_MODES.join(', ')}`);
    if (typeof least === 'number' && typeof most === 'number' && least > most)
      fault('minTurnSilenceMs', `must not be above maxTurnSilenceMs (${most})`);
  }
}

function checkListenModel({ listen, language, otherLanguages = [] }: CascadeAgent, report: Report, warn: Report): void {
  const { model } = listen;
  if (model === undefined || !ENGLISH_MODELS.includes(model)) return;
  const wayOut = 'leave model out, and the right one is taken';
  if (!ENGLISH.test(language)) {
    report(['listen', 'model'], `'${model}' knows English only, and the language is ${language}; ${wayOut}`);
  } else if (otherLanguages.some((other) => !ENGLISH.test(other))) {
    warn(['listen', 'model'], `'${model}' hears none of otherLanguages; ${wayOut}`);
  }
}
