/**
 * Whether the transcript keeps step with the sound: a call with known words is held, its recording is played in the
 * page, and for each turn the moment at which it is marked is set beside the moment at which its sound comes out.
 */
import type { Browser } from 'playwright-core';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startGateway } from '../harness/gateway.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { signInPerson } from './person.ts';
import { TAP_PLAYER } from './sound-scripts.ts';

export interface StepFigures {
  turns: {
    role: string;
    text: string;
    /** As the transcript has it, in the recording. */
    startMs: number;
    /** From its sound to its mark, on the page's clock; null: no sound begins near. */
    markedAfterMs: number | null;
    /** The place of the player as it was marked, less the turn's beginning. */
    playerAfterMs: number;
  }[];
  mostMs: number;
}

const NUMBER = '+14155550161';
const QUESTIONS = ['Were you seen on time?', 'Did we explain it well?', 'Would you come again?'];
const ANSWERS = ['Yes please.', 'No thank you.', 'Yes please.'];
const AGENT: ScriptedAgent = {
  kind: 'scripted',
  name: 'Asks three things',
  direction: 'outbound',
  language: 'en-US',
  voice: 'rms',
  script: 'Ask three things.',
  greeting: 'Hello, this is River Dental.',
  steps: [
    ...QUESTIONS.map((say, at) => ({
      id: `question${at}`,
      say,
      expect: 'yesno' as const,
      replies: [
        { intent: 'yes', phrases: ['yes', 'yes please'], goto: next(at) },
        { intent: 'no', phrases: ['no', 'no thank you'], goto: next(at) },
      ],
    })),
    { id: 'bye', say: 'Thank you. Goodbye!', end: { reason: 'agent_hangup' as const } },
  ],
  fallback: { say: ['Sorry, was that a yes?'], after: 3, goto: 'bye' },
  idle: { promptAfterMs: 10_000, say: ['Hello?'], endAfterMs: 30_000 },
};

function next(at: number): string {
  return at + 1 < QUESTIONS.length ? `question${at + 1}` : 'bye';
}

/** A mark belongs to a sound that begins this near. */
const NEAR_MS = 700;

interface Mark {
  turn: number;
  audioMs: number;
  at: number;
}

export async function measureSteps(browser: Browser, log: (line: string) => void): Promise<StepFigures> {
  const gateway = await startGateway({
    dataDir: 'data/bench/console-step',
    agent: AGENT,
    personas: [{ kind: 'reciting', name: 'Answers', number: NUMBER, voice: 'slt', lines: ANSWERS }],
    volatileDatabase: true,
    log,
  });
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 1,
    onIdleError: () => {},
  });
  try {
    const person = await signInPerson(gateway.service.publicUrl, database);
    const { client, enterprise, agentId, lineId: from } = gateway;
    const callUuid = (await client.place({ to: NUMBER, agentId, enterprise, from })).body.callUuid ?? '';
    const { turns } = await client.waitFor(callUuid, 'its recording', ({ recording, transcriptStatus }) => {
      return recording.status === 'ready' && transcriptStatus === 'ready';
    });
    const context = await person.context(browser, { bypassCSP: true });
    await context.addInitScript(TAP_PLAYER);
    const page = await context.newPage();
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${enterprise}/call/${callUuid}`);
    await page.locator('.wave path').first().waitFor({ state: 'attached' });
    await page.evaluate('bench.noteMarks()');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const began = Date.now();
    while (!(await page.evaluate<boolean>('bench.audio.ended')) && Date.now() - began < PATIENCE_MS) {
      await page.waitForTimeout(200);
    }
    const marks = await page.evaluate<Mark[]>('bench.marked');
    const onsets = await page.evaluate<{ channel: number; at: number }[]>('bench.onsets');
    const found = turns.flatMap(({ role, heardText, startMs }, index) => {
      const mark = marks.find(({ turn }) => turn === index);
      if (mark === undefined) return [];
      const channel = role === 'user' ? 0 : 1;
      const [nearest] = onsets
        .filter((one) => one.channel === channel && Math.abs(one.at - mark.at) < NEAR_MS)
        .toSorted((a, b) => Math.abs(a.at - mark.at) - Math.abs(b.at - mark.at));
      const markedAfterMs = nearest === undefined ? null : mark.at - nearest.at;
      return [{ role, text: heardText, startMs, markedAfterMs, playerAfterMs: mark.audioMs - startMs }];
    });
    const mostMs = Math.max(...found.map(({ markedAfterMs }) => Math.abs(markedAfterMs ?? Number.POSITIVE_INFINITY)));
    return { turns: found, mostMs };
  } finally {
    await database.close();
    await gateway.stop();
  }
}
