/**
 * One run: a gateway with an agent that converses, emulated providers, and a telephone for each case, several at once,
 * in real time. The carrier's recordings and the call's own events are what `verdict.ts` judges. Called by `main.ts`
 * and, small, by the test.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { startProvidersProcess } from '../../../bench/harness/providers-process.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import type { ConversationEvent } from '../../../media/contract/conversation.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { castSpeakers } from './corpus/cast.ts';
import { type CaseClips, writeClips } from './corpus/clips.ts';
import { SETS, type SetName, vocabularyOf } from './corpus/phrases.ts';
import { loadVoices } from './corpus/voices.ts';
import type { Case, EarName } from './plan.ts';
import { judge, type Verdict } from './verdict.ts';
import { type SpokenWord, spokenWords } from './word-times.ts';

export interface RunOptions {
  set: SetName;
  cases: readonly Case[];
  atOnce: number;
  /** Recordings and events of all calls are kept here. */
  keepIn?: string;
  databaseUrl?: string;
  told(verdict: Verdict): void;
  log(line: string): void;
}

export interface RunReport {
  verdicts: Verdict[];
  faults: string[];
  hasEspeak: boolean;
  /** Clips that another speaker says, as the recogniser did not understand the first by itself. */
  recast: number;
  /** Clips whose room was made quieter for that. */
  moved: number;
  /** Cases in which it hears other words than were said, or words in a noise, by itself; ids. */
  misheard: string[];
  /** How late the emulated carrier ran at worst: where that is great, milliseconds mean nothing. */
  maxLatenessMs: number;
}

const VOICE = 'pNInz6obpgDQGcFmaJgB';
const ANSWER = 'All right, I have noted that.';
/** After the sound: what the agent makes of it is heard. */
const AFTERWARDS_MS = 4_500;
const LONGEST_CALL_MS = 90_000;

export async function runBargeIn(options: RunOptions): Promise<RunReport> {
  const { set, log } = options;
  const folder = mkdtempSync(join(tmpdir(), 'parley-barge-in-'));
  const { agentSays, asks, opening } = SETS[set];
  const voices = await loadVoices();
  const { cases } = options;
  const clips = new Map<Case, CaseClips>();
  log('speaking the clips, and listening to each by itself');
  const cast = await castSpeakers(set, cases, voices);
  for (const one of cast.cases) clips.set(one, await writeClips(one, set, voices, folder));
  const providers = await startProvidersProcess({
    vocabulary: vocabularyOf(set),
    isExact: true,
    scenario: {
      rules: [{ when: { user: `^${opening}$` }, say: agentSays }],
      otherwise: { say: ANSWER },
    },
  });
  let gateway: Gateway | null = null;
  try {
    const credentials = { apiKey: providers.key };
    const trusting = trustingFetch(readFileSync(providers.caFile, 'utf8'));
    const words = await spokenWords({
      fetch: trusting,
      origin: providers.origins['elevenlabs']!,
      voice: VOICE,
      text: agentSays,
      key: providers.key,
    });
    const questionEndMs = words.findLast(({ endChar }) => endChar <= agentSays.indexOf(asks) + asks.length)!.endMs;
    gateway = await startGateway({
      dataDir: join(folder, 'data'),
      agent: agentOf(set, 'deepgram', false),
      personas: cast.cases.map((one) => personaOf(one, clips.get(one)!, questionEndMs)),
      connections: [
        { name: 'ears', provider: 'deepgram', baseUrl: providers.origins['deepgram']!, credentials },
        { name: 'brain', provider: 'openai_compatible', baseUrl: `${providers.origins['openai']}/v1`, credentials },
        { name: 'voice', provider: 'elevenlabs', baseUrl: providers.origins['elevenlabs']!, credentials },
      ],
      environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
      ...(options.databaseUrl === undefined ? {} : { settings: { DATABASE_URL: options.databaseUrl } }),
      concurrentCalls: options.atOnce + 5,
      callsPerSecond: 20,
      volatileDatabase: true,
      log,
    });
    const agentIds = await importAgents(gateway, set);
    const { recast, moved, misheard } = cast;
    return {
      hasEspeak: voices.hasEspeak,
      recast,
      moved,
      misheard: [...misheard],
      ...(await callAll(gateway, options, clips, agentIds, words)),
    };
  } finally {
    await gateway?.stop();
    await providers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const agentKey = (ear: EarName, callerOpens: boolean): string => `${ear} ${callerOpens}`;

async function importAgents(gateway: Gateway, set: SetName): Promise<Map<string, string>> {
  const database = openPatientDatabase(gateway.service.databaseUrl);
  try {
    const ids = new Map<string, string>();
    for (const ear of ['deepgram', 'deepgram-flux'] as const) {
      for (const callerOpens of [false, true]) {
        const { id } = await importAgent(database, {
          slug: gateway.enterprise,
          definition: agentOf(set, ear, callerOpens),
        });
        ids.set(agentKey(ear, callerOpens), id);
      }
    }
    return ids;
  } finally {
    await database.close();
  }
}

function agentOf(set: SetName, ear: EarName, callerOpens: boolean): CascadeAgent {
  return {
    kind: 'cascade',
    schema: 1,
    name: `Barge-in, ${ear}, ${callerOpens ? 'the caller opens' : 'the agent opens'}`,
    direction: 'any',
    language: 'en-US',
    otherLanguages: ['de'],
    script: 'You hold a short conversation on the telephone.',
    ...(callerOpens ? { speaksFirst: 'caller' as const } : { firstMessage: SETS[set].agentSays }),
    think: [{ connection: 'brain', model: 'emulated-mini' }],
    listen: { engine: ear, connection: 'ears' },
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: VOICE, model: 'eleven_flash_v2_5' }],
  };
}

function personaOf(one: Case, clip: CaseClips, questionEndMs: number): PersonaInput {
  const { path, ms, openingPath, openingMs, roomPath } = clip;
  const opening =
    openingPath === null ? [] : [{ path: openingPath, says: one.opens!, after: 'start' as const, atMs: 800 }];
  const afterMs = one.from === 'question' ? questionEndMs + one.afterMs : one.afterMs;
  const after = one.from === 'opening' ? ('own' as const) : ('agent' as const);
  // An answer of the model's begins some 1.5 s after the opening at the latest.
  const agentBeginsMs = openingPath === null ? 1_000 : 800 + openingMs + 2_500;
  return {
    kind: 'interjecting',
    name: one.id,
    number: one.number,
    ringMs: 600,
    sounds: [...opening, { path, says: one.says, after, atMs: afterMs }],
    room: roomPath,
    hangsUpAfterMs: agentBeginsMs + afterMs + ms + AFTERWARDS_MS,
  };
}

async function callAll(
  gateway: Gateway,
  options: RunOptions,
  clips: ReadonlyMap<Case, CaseClips>,
  agentIds: ReadonlyMap<string, string>,
  words: readonly SpokenWord[],
): Promise<Pick<RunReport, 'verdicts' | 'faults' | 'maxLatenessMs'>> {
  const verdicts: Verdict[] = [];
  const faults: string[] = [];
  const cases = [...clips.keys()];
  let maxLatenessMs = 0;
  let next = 0;
  const takeCases = async (): Promise<void> => {
    for (let one = cases[next++]; one !== undefined; one = cases[next++]) {
      try {
        await callOne(one);
      } catch (error) {
        faults.push(`${one.id}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, takeCases));
  return { verdicts, faults, maxLatenessMs };

  async function callOne(one: Case): Promise<void> {
    const { enterprise, lineId: from } = gateway;
    const agentId = agentIds.get(agentKey(one.ear, one.opens !== null))!;
    const { body } = await gateway.client.place({ to: one.number, agentId, enterprise, from, name: 'Dana' });
    if (!body.callUuid) throw new Error(`the placement failed: ${body.message}`);
    const events: ConversationEvent[] = [];
    const followed = new AbortController();
    const following = (async () => {
      for await (const { kind, data } of gateway.client.follow(body.callUuid!, followed.signal))
        events.push({ type: kind, ...data } as ConversationEvent);
    })().catch((error: unknown) => {
      if (!followed.signal.aborted) throw error;
    });
    const entry = await gateway.client.waitFor(
      body.callUuid,
      'its end',
      ({ endedAt }) => endedAt !== null,
      LONGEST_CALL_MS,
    );
    await Promise.race([following, new Promise((done) => setTimeout(done, 1_000))]);
    followed.abort();
    const emulated = (await gateway.emulator.calls()).find(({ to }) => one.number.endsWith(to.replace('+', '')));
    if (emulated === undefined) throw new Error('the carrier knows no call to it');
    const wav = await gateway.emulator.recording(emulated.callUuid);
    maxLatenessMs = Math.max(maxLatenessMs, emulated.maxFrameLatenessMs);
    const clip = clips.get(one)!;
    const verdict = judge({
      one,
      clipMs: clip.ms,
      turns: entry.turns,
      events,
      emulated,
      wav,
      words,
      text: SETS[options.set].agentSays,
    });
    verdicts.push(verdict);
    options.told(verdict);
    if (options.keepIn === undefined) return;
    mkdirSync(options.keepIn, { recursive: true });
    writeFileSync(join(options.keepIn, `${one.id}.wav`), wav);
    writeFileSync(
      join(options.keepIn, `${one.id}.json`),
      JSON.stringify({ verdict, events, turns: entry.turns }, null, 1),
    );
  }
}
