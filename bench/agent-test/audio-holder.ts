/**
 * Holds scenarios' calls with sound: the whole service, a carrier emulator whose callee says the caller's turns, the
 * recogniser, the model and the voice. One gateway a scenario file; calls come one after another. Called by
 * `test-command.ts` with `--audio`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '../../clients/typescript/src/client.ts';
import { talkingAgent } from '../../media/contract/agent-definition.ts';
import type { CommandIo } from '../../src/cli/command-io.ts';
import type { Database } from '../../src/store/database.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { openPatientDatabase } from '../harness/patient-database.ts';
import { startAudioProviders } from './audio-providers.ts';
import { type KnownStates, StateWatch, statesOf } from './audio-states.ts';
import { type AudioTools, startAudioTools } from './audio-tools.ts';
import type { Environment } from './connections-of-test.ts';
import { emptyCall, endlessOf, type HeldCall } from './held-call.ts';
import { heldFrom } from './held-from-entry.ts';
import type { Scenario } from './scenario-schema.ts';
import type { Subject } from './subject.ts';
import type { AudioHolder } from './test-command.ts';

/** Of the agent's silence, before the caller's next words: longer than it is silent between a filler and an answer. */
const CALLER_WAITS_MS = 2_000;
const FIRST_NUMBER = 14_155_550_200;
/** A busy machine takes its time. */
const RECORD_LIMIT_MS = 120_000;

type Interrupting = { says: string; interruptsAfterMs: number };

interface Stage {
  gateway: Gateway;
  tools: AudioTools;
  /** Of the service. */
  database: Database;
}

/** What was begun for a stage, to be ended in the other order. */
type Begun = (() => Promise<void> | void)[];

export function createAudioHolder(deps: { io: CommandIo; environment: Environment }): AudioHolder {
  const stages = new Map<Subject, Promise<Stage>>();
  const begun: Begun = [];
  const started = (subject: Subject): Promise<Stage> => {
    const known = stages.get(subject);
    if (known !== undefined) return known;
    const own: Begun = [];
    begun.push(() => endAll(own));
    const stage = startStage(subject, deps, own);
    stages.set(subject, stage);
    return stage.catch(async (error: unknown) => {
      stages.delete(subject);
      await endAll(own);
      throw error;
    });
  };
  return {
    hold: async (subject, scenario) => holdCall(await started(subject), subject, scenario),
    refusal: textOnly,
    async close() {
      // What is only being started has processes too.
      await Promise.allSettled(stages.values());
      stages.clear();
      await endAll(begun);
    },
  };
}

/** All of them, whatever becomes of one; throws what the first of those threw that could not be ended. */
async function endAll(begun: Begun): Promise<void> {
  const faults: unknown[] = [];
  for (const end of begun.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

/** Why a scenario can only be held as text; null: it can be held with sound. */
function textOnly({ turns }: Scenario): string | null {
  return turns.some(({ keys, silentSeconds }) => keys !== undefined || silentSeconds !== undefined)
    ? 'keys and silentSeconds are for calls as text'
    : null;
}

const numberOf = (subject: Subject, scenario: Scenario): string =>
  `+${FIRST_NUMBER + subject.file.scenarios.indexOf(scenario)}`;

function personaOf(subject: Subject, scenario: Scenario): PersonaInput {
  const base = { name: scenario.name, number: numberOf(subject, scenario), ringMs: 300 };
  const lines = scenario.turns.flatMap(({ caller, interruptsAfterMs }): (string | Interrupting)[] =>
    caller === undefined ? [] : [interruptsAfterMs === undefined ? caller : { says: caller, interruptsAfterMs }],
  );
  if (lines.length === 0) return { ...base, kind: 'silent', hangsUpAfterMs: scenario.timeLimitSeconds * 1_000 };
  const voice = voiceBeside(subject);
  return { ...base, kind: 'reciting', voice, lines, afterMs: CALLER_WAITS_MS, patienceMs: 8_000 };
}

/** Not that of the agent. */
function voiceBeside({ definition }: Subject): 'slt' | 'rms' {
  return definition.kind === 'scripted' && definition.voice === 'rms' ? 'slt' : 'rms';
}

async function startStage(
  subject: Subject,
  deps: { io: CommandIo; environment: Environment },
  begun: Begun,
): Promise<Stage> {
  const { definition, file } = subject;
  const answers = [file.tools, ...file.scenarios.map(({ tools }) => tools)];
  const tools = await startAudioTools((name) => answers.some((one) => one?.[name] === 'real'));
  begun.push(() => tools.close());
  const providers = await startAudioProviders(subject, deps);
  begun.push(() => providers.close());
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-agent-test-'));
  begun.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const agent = talkingAgent(definition);
  const gateway = await startGateway({
    dataDir,
    volatileDatabase: true,
    personas: file.scenarios.map((scenario) => personaOf(subject, scenario)),
    agent: agent?.tools === undefined ? definition : { ...agent, tools: tools.at(agent.tools) },
    connections: providers.connections,
    environment: providers.environment,
    log() {},
  });
  begun.push(() => gateway.stop());
  const database = openPatientDatabase(gateway.service.databaseUrl);
  begun.push(() => database.close());
  return { gateway, tools, database };
}

const isRecorded = ({ answeredAt, recording, analysisStatus }: Call): boolean =>
  answeredAt === null || (['ready', 'failed'].includes(recording?.status ?? '') && analysisStatus !== 'pending');

async function holdCall({ gateway, tools, database }: Stage, subject: Subject, scenario: Scenario): Promise<HeldCall> {
  const { client, emulator } = gateway;
  const to = numberOf(subject, scenario);
  tools.begin({ ...subject.file.tools, ...scenario.tools });
  const { customer_name: name, ...metadata } = { ...subject.file.placeholders, ...scenario.placeholders };
  const { agentId, enterprise, lineId: from } = gateway;
  const placed = await client.place({
    ...{ to, agentId, enterprise, from, metadata },
    ...(name === undefined ? {} : { name }),
  });
  const { callUuid } = placed.body;
  if (callUuid === undefined)
    return { ...emptyCall(), fault: `the call was not placed (${placed.httpStatus}): ${placed.body.message}` };
  const watch = new StateWatch(database, callUuid);
  const truth = async () => (await emulator.calls()).findLast((call) => call.to.endsWith(to.slice(1)));
  const isOver = ({ endedReason }: Call): boolean => endedReason !== null;
  let isOutOfTime = false;
  const ended = async (): Promise<Call> => {
    const limitMs = scenario.timeLimitSeconds * 1_000;
    const entry = await client.waitFor(callUuid, 'its end', isOver, limitMs).catch(async () => {
      isOutOfTime = true;
      const emulated = await truth();
      if (emulated !== undefined) await emulator.hangUp(emulated.callUuid);
      return client.waitFor(callUuid, 'its end', isOver, RECORD_LIMIT_MS);
    });
    return client.waitFor(callUuid, 'its recording', isRecorded, RECORD_LIMIT_MS).catch(() => entry);
  };
  let known: KnownStates;
  let whole: Call;
  try {
    whole = await ended();
  } finally {
    known = await watch.close();
  }
  const recording = await gateway.recording(callUuid);
  const said = (await truth())?.said ?? [];
  // Of others a step is a sign for the call log.
  const isScript = subject.definition.kind === 'scripted';
  const states = statesOf(isScript ? known : { ...known, steps: [] }, said);
  const held = heldFrom(whole, said, tools.used(), states);
  const last = Math.max(0, ...held.turns.map(({ exchange }) => exchange));
  const fault = isOutOfTime
    ? `it did not end within ${scenario.timeLimitSeconds} s and was ended: ${endlessOf(held, last)} (timeLimitSeconds allows more)`
    : null;
  return { ...held, fault, ...(recording === null ? {} : { recording }) };
}
