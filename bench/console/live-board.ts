/**
 * The live board over calls of the real service: how long after an event it is on the screen, whether the board at the
 * end says what the service says, and whether scrolling it stays smooth. The calls are silent on both sides, which is
 * the cheapest that can still be steered; what happens in them is asked for over the API, as an operator would.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { percentiles } from '../harness/percentile.ts';
import { createRandom } from '../harness/seeded-random.ts';
import { PAINTED } from './page-scripts.ts';
import { signInPerson } from './person.ts';

export interface BoardOptions {
  calls: number;
  /** Placed a second while they are begun. */
  beginPerSecond: number;
  seconds: number;
  /** Mutes, the end of a mute, and sentences that are said, a second in all. */
  eventsPerSecond: number;
  log(line: string): void;
}

export interface BoardFigures {
  calls: { wanted: number; live: number; refused: number };
  /** Of events of calls that were in sight. */
  shownMs: { p50: number; p95: number; max: number; count: number };
  /** Such events that no drawing showed: another came within the same quarter of a second, or it was lost. */
  notShown: number;
  /** Steps of the service that were answered, and those that were not. */
  steered: { done: number; not: number };
  /** What the board said of each call at the end, beside what the service says. */
  atTheEnd: { compared: number; different: string[] };
  nodes: number;
  /** While it was scrolled through for five seconds. */
  scrolled: { frames: number; longFrames: number; longestMs: number };
  /** The far ends' own delay: how loaded the machine was. */
  emulatorLateMs: number;
}

const NO_LIMIT = 10_000;
const SETTLE_MS = 3_000;
const SCROLL_MS = 5_000;
const LEFT_ALONE_MS = 1_000;
const SHARE_SAID = 0.1;
const QUIET: ScriptedAgent = {
  kind: 'scripted',
  name: 'Quiet',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Be there.',
  greeting: 'Hello.',
  // Nobody says yes: the far ends are silent.
  steps: [
    { id: 'wait', say: 'Please hold.', expect: 'yesno', replies: [{ intent: 'yes', phrases: ['yes'], goto: 'bye' }] },
    { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry?'], after: 9, goto: 'wait' },
  idle: { promptAfterMs: 60_000, say: [], endAfterMs: 600_000 },
  maxDurationSeconds: 3_600,
};

/** Notes what is drawn of each call, and when: its state and its last words. */
const NOTE_CHANGES = `${PAINTED}
bench.drawn = [];
bench.textOf = (row) => {
  const cells = row.querySelectorAll('[role=cell]');
  return { callUuid: row.querySelector('a').hash.split('/').at(-1), state: cells[0].textContent.trim(), words: cells[3].textContent.trim() };
};
bench.note = () => {
  const rows = document.querySelector('.rows.live .row-space');
  const known = new Map();
  const look = () => {
    const changed = [];
    for (const row of rows.querySelectorAll('[data-row]')) {
      const now = bench.textOf(row);
      const before = known.get(now.callUuid);
      if (before?.state !== now.state || before?.words !== now.words) changed.push(now);
      known.set(now.callUuid, now);
    }
    if (changed.length > 0) void bench.painted().then((ms) => bench.drawn.push(...changed.map((one) => ({ ...one, at: performance.timeOrigin + ms }))));
  };
  new MutationObserver(look).observe(rows, { childList: true, subtree: true, characterData: true });
  look();
};
bench.scroll = async (forMs) => {
  const box = document.querySelector('.rows.live');
  let [frames, longFrames, longestMs, step] = [0, 0, 0, 120];
  const beganMs = performance.now();
  let atMs = await new Promise(requestAnimationFrame);
  while (performance.now() - beganMs < forMs) {
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) step = -120;
    if (box.scrollTop <= 0) step = 120;
    box.scrollTop += step;
    const nowMs = await new Promise(requestAnimationFrame);
    longestMs = Math.max(longestMs, nowMs - atMs);
    if (nowMs - atMs > 50) longFrames++;
    atMs = nowMs;
    frames++;
  }
  return { frames, longFrames, longestMs };
};
/** All rows, a window at a time. */
bench.allRows = async () => {
  const box = document.querySelector('.rows.live');
  const found = new Map();
  for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight) {
    await bench.painted();
    for (const row of box.querySelectorAll('[data-row]')) { const one = bench.textOf(row); found.set(one.callUuid, one); }
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) return [...found.values()];
  }
};`;

interface Drawn {
  callUuid: string;
  state: string;
  words: string;
}

export async function measureBoard(browser: Browser, options: BoardOptions): Promise<BoardFigures> {
  const { calls, log } = options;
  const gateway = await startGateway({
    dataDir: 'data/bench/console-board',
    agent: QUIET,
    personas: [{ kind: 'silent', name: 'Listens', number: '*', ringMs: 100 }],
    concurrentCalls: NO_LIMIT,
    callsPerSecond: NO_LIMIT,
    volatileDatabase: true,
    keepAudio: false,
    settings: { PARLEY_MEDIA_CAPACITY: String(calls + 50) },
    log,
  });
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 2,
    onIdleError: () => {},
  });
  try {
    const person = await signInPerson(gateway.service.publicUrl, database);
    const placed = await begin(gateway, options);
    log(`${placed.callUuids.length} calls placed, ${placed.refused} refused`);
    await wait(SETTLE_MS);
    const context = await person.context(browser);
    await context.addInitScript(NOTE_CHANGES);
    const page = await context.newPage();
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${gateway.enterprise}/live`);
    await page.locator('.rows.live [data-row]').first().waitFor();
    await page.evaluate('bench.note()');
    // Calls in sight and calls beyond: the board keeps all of them.
    const inSight = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.rows.live [data-row]')].map((row) => bench.textOf(row).callUuid)`,
    );
    const steered = await steer(gateway, options, [inSight, placed.callUuids]);
    await wait(SETTLE_MS);
    const all = await delays(page, database, steered.sinceEpochMs);
    const shownMs = all.filter((ms) => ms !== null);
    const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
    const scrolled = await page.evaluate<BoardFigures['scrolled']>(`bench.scroll(${SCROLL_MS})`);
    const [live = 0, ...different] = await compare(page, database);
    const [p50 = Number.NaN, p95 = Number.NaN, max = Number.NaN] = percentiles(shownMs, [0.5, 0.95, 1]);
    const emulated = await gateway.emulator.calls();
    return {
      calls: { wanted: calls, live, refused: placed.refused },
      shownMs: { p50, p95, max, count: shownMs.length },
      notShown: all.length - shownMs.length,
      steered: { done: steered.done, not: steered.not },
      atTheEnd: { compared: live, different },
      nodes,
      scrolled,
      emulatorLateMs: Math.max(0, ...emulated.map(({ maxFrameLatenessMs }) => maxFrameLatenessMs)),
    };
  } finally {
    await database.close();
    await gateway.service.kill();
    await gateway.stop();
  }
}

async function begin(
  { client, enterprise, agentId, lineId: from }: Gateway,
  { calls, beginPerSecond }: BoardOptions,
): Promise<{ callUuids: string[]; refused: number }> {
  const beganMs = performance.now();
  const all = Array.from({ length: calls }, async (_, index) => {
    await wait(Math.max(0, beganMs + (index * 1000) / beginPerSecond - performance.now()));
    const to = `+1415555${String(index).padStart(4, '0')}`;
    return (await client.place({ to, agentId, enterprise, from, name: `Caller ${index}` })).body.callUuid;
  });
  const callUuids = (await Promise.all(all)).filter((one) => one !== undefined);
  return { callUuids, refused: calls - callUuids.length };
}

/**
 * Half of it in the first list of calls. A call is left alone for a while after each step: two within a quarter of a
 * second are drawn once, and what was never drawn would count as drawn with the next step to the same state.
 */
async function steer(
  gateway: Gateway,
  { seconds, eventsPerSecond }: BoardOptions,
  [near, all]: [string[], string[]],
): Promise<{ done: number; not: number; sinceEpochMs: number }> {
  const random = createRandom(1);
  const busy = new Set<string>();
  const muted = new Set<string>();
  const [sinceEpochMs, beganMs] = [Date.now(), performance.now()];
  let [done, not] = [0, 0];
  const steps = Array.from({ length: seconds * eventsPerSecond }, async (_, index) => {
    await wait(Math.max(0, beganMs + (index * 1000) / eventsPerSecond - performance.now()));
    const among = index % 2 === 0 ? near : all;
    const free = among.filter((one) => !busy.has(one));
    const callUuid = free[Math.floor(random() * free.length)];
    if (callUuid === undefined) return;
    busy.add(callUuid);
    const says = !muted.has(callUuid) && random() < SHARE_SAID;
    const action = muted.has(callUuid) ? 'unmute_agent' : 'mute_agent';
    const body = says ? { action: 'say', text: `Step ${index}.` } : { action };
    const answer = await fetch(`${gateway.service.publicUrl}/api/developer/calls/${callUuid}/control`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    setTimeout(() => busy.delete(callUuid), LEFT_ALONE_MS).unref();
    if (!answer.ok) not++;
    else {
      done++;
      if (!says && !muted.delete(callUuid)) muted.add(callUuid);
    }
  });
  await Promise.all(steps);
  return { done, not, sinceEpochMs };
}

const STATE_OF: Readonly<Record<string, string>> = { mute_agent: 'Muted', unmute_agent: '' };

/** From the time of an event in the call's log to the first drawing that shows it; null: none did. */
async function delays(page: Page, database: Database, sinceEpochMs: number): Promise<(number | null)[]> {
  const drawn = await page.evaluate<(Drawn & { at: number })[]>('bench.drawn');
  const events = await database.query<{
    callUuid: string;
    at: Date;
    action: string | null;
    text: string | null;
  }>(
    `SELECT call_uuid AS "callUuid", at, data ->> 'action' AS action, data -> 'turn' ->> 'heardText' AS text FROM call_events
     WHERE at >= $1 AND (kind = 'turn' OR (kind = 'control' AND data ->> 'result' = 'done' AND data ->> 'action' LIKE '%mute_agent'))
     ORDER BY id`,
    [new Date(sinceEpochMs)],
  );
  const byCall = new Map<string, (Drawn & { at: number })[]>();
  for (const one of drawn) byCall.set(one.callUuid, [...(byCall.get(one.callUuid) ?? []), one]);
  return events.flatMap(({ callUuid, at, action, text }) => {
    const shows = ({ state, words }: Drawn): boolean =>
      text === null ? (STATE_OF[action ?? ''] === 'Muted') === (state === 'Muted') : words.includes(text);
    const own = byCall.get(callUuid);
    const later = own?.find((one) => one.at >= at.getTime() && shows(one));
    if (own === undefined) return [];
    return [later === undefined ? null : later.at - at.getTime()];
  });
}

/** The number of calls that are live, and what the board says otherwise than the service. */
async function compare(page: Page, database: Database): Promise<[number, ...string[]]> {
  const shown = new Map((await page.evaluate<Drawn[]>('bench.allRows()')).map((one) => [one.callUuid, one]));
  const calls = await database.query<{ callUuid: string; muted: boolean | null; text: string | null }>(
    `SELECT c.call_uuid AS "callUuid",
            (SELECT data ->> 'action' = 'mute_agent' FROM call_events e WHERE e.call_uuid = c.call_uuid AND kind = 'control'
               AND data ->> 'result' = 'done' AND data ->> 'action' LIKE '%mute_agent' ORDER BY id DESC LIMIT 1) AS muted,
            (SELECT data -> 'turn' ->> 'heardText' FROM call_events e WHERE e.call_uuid = c.call_uuid AND kind = 'turn'
               AND data -> 'turn' ->> 'heardText' <> '' ORDER BY id DESC LIMIT 1) AS text
     FROM calls c WHERE c.status IN ('queued', 'dialing', 'ringing', 'in_progress')`,
  );
  const different = calls.flatMap(({ callUuid, muted, text }) => {
    const one = shown.get(callUuid);
    if (one === undefined) return [`${callUuid} is not on the board`];
    if ((one.state === 'Muted') !== (muted === true)) return [`${callUuid} is shown as ${one.state}`];
    return text === null || one.words.includes(text) ? [] : [`${callUuid}: '${one.words}' in place of '${text}'`];
  });
  for (const callUuid of shown.keys()) {
    if (!calls.some((call) => call.callUuid === callUuid)) different.push(`${callUuid} is over and on the board`);
  }
  return [calls.length, ...different];
}
