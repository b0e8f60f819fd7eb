/**
 * The console in Chromium, before the real API on a database of its own: people with a role, calls with all that a call
 * can have, pages that must not say a word in the browser's console. The build of `dist/console` is what is tested.
 */
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { OpenIdProvider } from '../../../src/users/openid/openid-provider.ts';
import type { Role } from '../../../src/users/roles.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER } from '../../unit/api/api-fixture.ts';
import { type SignedInPerson, signedIn } from '../../unit/api/console-people.ts';
import { newContext, sharedBrowser } from './chromium.ts';

export interface ConsoleVisit extends SignedInPerson {
  page: Page;
  /** Errors that reached the page, refused policies among them; answers that are no success are not. */
  errors: string[];
  go(hash: string): Promise<void>;
  close(): Promise<void>;
}

export interface ConsoleRig {
  api: ApiFixture;
  /** `http://localhost:…`: a secure context, whose cookie is the local one. */
  origin: string;
  /** Signs somebody in and opens the console. `role` null: nobody is signed in. */
  visit(
    role: Role | null,
    hash?: string,
    options?: BrowserContextOptions & { isOperator?: boolean },
  ): Promise<ConsoleVisit>;
  /** A call that is over, with turns of which one was cut off, replies, an analysis and a recording. */
  finishedCall(change?: Record<string, unknown>): Promise<string>;
}

/** Chromium's own word on each answer that is no success. */
const OF_AN_ANSWER = /^Failed to load resource/;
const SOUND_SECONDS = 4;

/** `openId`: made before the service is. */
export function useConsole({ openId }: { openId?: () => Promise<OpenIdProvider> } = {}): ConsoleRig {
  const rig = {} as ConsoleRig;
  beforeAll(async () => {
    rig.api = await createApiFixture(undefined, { openId: (await openId?.()) ?? null });
    await rig.api.app.listen({ host: '127.0.0.1', port: 0 });
    rig.origin = `http://localhost:${(rig.api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(() => rig.api?.close());

  rig.visit = async (role, hash = '#/', { isOperator = false, ...options } = {}) => {
    const person = await signedIn(rig.api, role, { isOperator, name: 'Mia Marsh' });
    const context = await newContext(await sharedBrowser(), { reducedMotion: 'reduce', ...options });
    const [name, value] = person.cookie.split('=') as [string, string];
    if (role !== null || isOperator) await context.addCookies([{ name, value, url: rig.origin }]);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !OF_AN_ANSWER.test(message.text())) errors.push(message.text());
    });
    const go = async (to: string): Promise<void> => {
      // What a person may ask in a second fills up again.
      rig.api.clock.advanceMs(1_000);
      await page.goto(`${rig.origin}/console/${to}`);
      await page.locator('h1').first().waitFor();
    };
    await go(hash);
    return { ...person, page, errors, go, close: () => context.close() };
  };

  rig.finishedCall = async (change = {}) => {
    const { api } = rig;
    const callUuid = await api.insertCall(api.acme, {
      status: 'completed',
      ended_reason: 'user_hangup',
      hangup_by: 'caller',
      answered_at: new Date(Date.now() - 60_000),
      ended_at: new Date(Date.now() - 50_000),
      transcript_status: 'ready',
      metadata: { plan: 'gold' },
      latency: LATENCY,
      analysis_status: 'ready',
      analysis: ANALYSIS,
      ...change,
    });
    for (const [at, turn] of TURNS.entries()) {
      await api.database.query('INSERT INTO call_turns VALUES ($1, $2, $3, $4)', [callUuid, turn.turnId, at, turn]);
    }
    await api.database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'status', $2)`, [
      callUuid,
      { status: 'completed' },
    ]);
    const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
    await putStored(into, { callUuid, epoch: 1, plain: toneFile(SOUND_SECONDS) });
    return callUuid;
  };
  return rig;
}

export const CUT = 'We are open from nine to five, and on Saturdays until noon.';
const HEARD = 'We are open from nine';

const TURNS = [
  turn('t1', 'agent', 0, 900, 'Hello, this is River Dental.'),
  turn('t2', 'user', 1_000, 1_600, 'When are you open?'),
  { ...turn('t3', 'agent', 2_000, 2_900, CUT), heardText: HEARD, interrupted: true },
  turn('t4', 'user', 2_900, 3_600, 'Thank you, goodbye <img src=x onerror=alert(1)>'),
];

function turn(turnId: string, role: 'agent' | 'user', startMs: number, endMs: number, text: string) {
  return { turnId, role, startMs, endMs, text, heardText: text, interrupted: false };
}

const spread = (ms: number) => ({ p50: ms, p90: ms, p95: ms, p99: ms, max: ms, count: 1 });

const LATENCY = {
  mouthToEarMs: spread(400),
  method: 'waveform',
  turns: [
    {
      ...{ turnId: 't3', eouMs: 200, sttMs: 50, ttsMs: 100, transportMs: 50, agentMs: 350, stagesMs: 400 },
      ...{ mouthToEarMs: 400, differenceMs: 0, steps: null },
    },
  ],
};

const ANALYSIS = {
  summary: 'They asked when the practice is open.',
  intent: 'opening_hours',
  intentConfidence: 0.9,
  sentiment: 'positive',
  successful: true,
  successReason: null,
  disposition: null,
  data: {},
  evidence: [{ turnId: 't2', quote: 'When are you open?' }],
  language: 'en',
  model: 'parley-heuristic-1',
};
