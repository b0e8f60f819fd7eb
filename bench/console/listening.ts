/**
 * How far behind a listener at the console is, and that the caller notices nothing: a callee that beeps at known
 * instants, and the instant at which the same beep leaves the page's audio graph.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../media/audio/wav.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { percentiles } from '../harness/percentile.ts';
import { signInPerson } from './person.ts';
import { tapLoudspeaker } from './sound-scripts.ts';

export interface ListeningFigures {
  /** From the callee's frame to the loudspeaker of the page. */
  behindMs: { p50: number; p95: number; max: number; count: number };
  beeps: number;
  /** What the page itself said at the end. */
  saidBehindMs: number;
  /** Of the agent's sound at the far end, sample by sample, with a listener and without. */
  compared: { samples: number; different: number };
}

const DATA_DIR = 'data/bench/console-listen';
const NUMBER = '+14155550171';
const RATE_HZ = 8_000;
const BEEP_HZ = 2_000;
const BEEP_MS = 200;
const BEEPS = 20;
const FIRST_AFTER_MS = 6_000;
const EVERY_MS = 700;
/** Later than this it would be the next beep. */
const MOST_BEHIND_MS = 650;
const SAMPLE_BYTES = 2;

export async function measureListening(browser: Browser, log: (line: string) => void): Promise<ListeningFigures> {
  const path = writeBeep();
  const gateway = await startGateway({
    dataDir: DATA_DIR,
    agent: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
    personas: [
      {
        kind: 'interjecting',
        name: 'Beeps',
        number: NUMBER,
        sounds: Array.from({ length: BEEPS }, (_, index) => ({
          path,
          says: 'beep',
          after: index === 0 ? ('start' as const) : ('own' as const),
          atMs: index === 0 ? FIRST_AFTER_MS : EVERY_MS,
        })),
        hangsUpAfterMs: FIRST_AFTER_MS + (BEEPS + 2) * (EVERY_MS + BEEP_MS),
      },
    ],
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
    const alone = await place(gateway);
    await gateway.client.waitFor(alone, 'its end', ({ status }) => status === 'completed');
    const callUuid = await place(gateway);
    await gateway.client.waitFor(callUuid, 'the answer', ({ status }) => status === 'in_progress');
    const context = await person.context(browser, { bypassCSP: true });
    await context.addInitScript(tapLoudspeaker(BEEP_HZ));
    const page = await context.newPage();
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${gateway.enterprise}/call/${callUuid}`);
    await page.getByRole('button', { name: 'Listen in' }).click();
    const behind = page.getByText(/^\d+ ms behind$/);
    await behind.waitFor();
    let said = Number.NaN;
    while ((await page.getByText('The call is over.').count()) === 0) {
      said = Number.parseInt((await behind.textContent({ timeout: 1_000 }).catch(() => '')) || String(said), 10);
      await page.waitForTimeout(500);
    }
    const heard = await page.evaluate<{ at: number }[]>('bench.onsets');
    const [, truth] = await gateway.emulator.calls();
    const behindMs = (truth?.said ?? []).flatMap(({ startAtEpochMs }) => {
      const one = heard.find(({ at }) => at > startAtEpochMs && at < startAtEpochMs + MOST_BEHIND_MS);
      return one === undefined ? [] : [one.at - startAtEpochMs];
    });
    const [p50 = Number.NaN, p95 = Number.NaN, max = Number.NaN] = percentiles(behindMs, [0.5, 0.95, 1]);
    return {
      behindMs: { p50, p95, max, count: behindMs.length },
      beeps: truth?.said.length ?? 0,
      saidBehindMs: said,
      compared: await compare(gateway),
    };
  } finally {
    await database.close();
    await gateway.stop();
  }
}

async function place({ client, enterprise, agentId, lineId: from }: Gateway): Promise<string> {
  return (await client.place({ to: NUMBER, agentId, enterprise, from })).body.callUuid ?? '';
}

function writeBeep(): string {
  const samples = new Int16Array((RATE_HZ * BEEP_MS) / 1000);
  for (let i = 0; i < samples.length; i++) samples[i] = 12_000 * Math.sin((2 * Math.PI * BEEP_HZ * i) / RATE_HZ);
  const bytes = new Uint8Array(WAV_HEADER_BYTES + samples.byteLength);
  writeWavHeader(bytes, { codec: 'pcm_s16le', rateHz: RATE_HZ, channels: 1, dataBytes: samples.byteLength });
  bytes.set(new Uint8Array(samples.buffer), WAV_HEADER_BYTES);
  mkdirSync(DATA_DIR, { recursive: true });
  const path = join(DATA_DIR, 'beep.wav');
  writeFileSync(path, bytes);
  return path;
}

/** The agent's side of both calls, from its first sound on. */
async function compare({ emulator }: Gateway): Promise<ListeningFigures['compared']> {
  const sides: Int16Array[] = [];
  for (const { callUuid } of await emulator.calls()) {
    const wav = await emulator.recording(callUuid);
    const agent = new Int16Array((wav.length - WAV_HEADER_BYTES) / (2 * SAMPLE_BYTES));
    for (let i = 0; i < agent.length; i++) agent[i] = wav.readInt16LE(WAV_HEADER_BYTES + (2 * i + 1) * SAMPLE_BYTES);
    sides.push(agent.subarray(agent.findIndex((sample) => sample !== 0)));
  }
  const [alone = new Int16Array(), listened = new Int16Array()] = sides;
  const samples = Math.min(alone.length, listened.length);
  let different = 0;
  for (let i = 0; i < samples; i++) if (alone[i] !== listened[i]) different++;
  return { samples, different };
}
