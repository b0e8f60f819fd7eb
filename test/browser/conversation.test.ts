/**
 * The conversation as a visitor has it: real Chromium, the real service, an agent that really listens. The microphone
 * plays a file in which our local voice speaks, again and again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { makeWebAccess, type WebAccess } from '../../bench/live-client/web-access.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { FLITE_RATE_HZ, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { createCaptions, type TranscriptMessage } from '../../widget/panel/captions.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import {
  hasChromium,
  launch,
  type Site,
  startSite,
  type Visit,
  type VisitOptions,
  visit,
  writeMicrophoneFile,
} from './support/chromium.ts';
import { startLine } from './support/tcp-proxy.ts';

const EVERY_MS = 7_000;
/** Of a call; each process that takes it over counts on. */
const FIRST_EPOCH = 1;

const agent = (name: string, behindYes: string) =>
  ({
    kind: 'scripted',
    name,
    direction: 'web',
    language: 'en-US',
    voice: 'rms',
    script: `You are ${name}.`,
    greeting: `Hello, this is ${name}.`,
    steps: [
      {
        id: 'ask',
        say: 'Can you hear me?',
        expect: 'yesno',
        replies: [
          { intent: 'heard', phrases: ['yes please', 'yes i can'], goto: 'again' },
          { intent: 'not_heard', phrases: ['no', 'no i can not'], goto: 'again' },
        ],
      },
      {
        id: 'again',
        say: 'Very good. Shall I go on?',
        // The microphone repeats itself whoever speaks; on a busy machine its next words fall into these.
        interruptible: false,
        expect: 'yesno',
        replies: [
          { intent: 'go_on', phrases: ['yes please', 'yes i can'], goto: behindYes },
          { intent: 'stop', phrases: ['no', 'no i can not'], goto: 'bye' },
        ],
      },
      {
        id: 'bye',
        say: 'I am glad that we talked. Goodbye.',
        interruptible: false,
        end: { reason: 'agent_hangup', disposition: 'done' },
      },
    ],
    // A busy machine hears a word at its second or third saying.
    fallback: { say: ['Please say that again.'], after: 8, goto: behindYes },
    idle: { promptAfterMs: 12_000, say: ['Are you there?'], endAfterMs: 60_000 },
  }) as unknown as AgentDefinition;

/** Ends by itself. */
const RITA = agent('Rita', 'bye');
/** Goes on until somebody says no: how far a call has come while processes die is not a machine's speed. */
const ROSA = agent('Rosa', 'again');

/** `yes please` after 1.5 s of each seven. */
async function speechFile(): Promise<string> {
  const voice = await loadFliteVoice();
  const spoken = voice.speak({ text: 'yes please', voice: 'slt', isFirst: true, end: 'text' });
  const samples = new Int16Array((EVERY_MS * FLITE_RATE_HZ) / 1000);
  samples.set(spoken, 1.5 * FLITE_RATE_HZ);
  return writeMicrophoneFile('yes-please', samples, FLITE_RATE_HZ);
}

describe.skipIf(!hasChromium)('a visitor and an agent that listens', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  let gateway: Gateway;
  let browser: Browser;
  let site: Site;
  let database: Database;
  let rita: WebAccess;
  let rosa: WebAccess;

  beforeAll(async () => {
    site = await startSite();
    [browser, gateway] = await Promise.all([
      launch(await speechFile()),
      startTestGateway({
        dataDir,
        agent: { ...RITA, direction: 'any' },
        personas: [],
        settings: { PARLEY_MEDIA_PROCESSES: '2', PARLEY_PIPELINE_THREADS: '1' },
        log: () => {},
      }),
    ]);
    const { service, enterprise } = gateway;
    const running = { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise };
    rita = await makeWebAccess(running, RITA, site.url);
    rosa = await makeWebAccess(running, ROSA, site.url);
    database = openDatabase({ connectionString: service.databaseUrl, maxConnections: 1, onIdleError: () => {} });
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await database?.close();
    await gateway?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  let pages = 0;

  async function call(
    attributes: string,
    base = gateway.service.publicUrl,
    options: VisitOptions = {},
    access = rita,
  ): Promise<Visit> {
    const path = `/${++pages}`;
    site.pages.set(
      path,
      `<!doctype html><title>t</title><button id="talk">Talk</button><script async src="${base}/embed.js"
      data-public-key="${access.publicKey}" data-agent-id="${access.agentId}" data-ui="custom" data-trigger="#talk" ${attributes}></script>`,
    );
    const visitor = await visit(browser, site.url + path, options);
    await visitor.page.evaluate('window.words = []; ServiceVoice.on("transcript", (one) => words.push(one)); 0');
    await visitor.page.click('#talk');
    return visitor;
  }

  interface Words {
    role: string;
    turnId: string;
    text?: string;
    final: boolean;
  }
  const finals = async ({ page }: Visit): Promise<Words[]> =>
    ((await page.evaluate('words')) as Words[]).filter((one) => one.final);

  const isOver = 'told.at(-1).status === "disconnected"';
  /** A session that goes on in another process is told its turns again. */
  const turnsSaid = 'new Set(words.filter((one) => one.final).map((one) => one.turnId)).size';
  const agentSpeaks = 'words.some((one) => one.role === "agent")';

  /**
   * The page's lines, one a turn and placed as the panel places them, are those of the call log: none is missing,
   * doubled or different. A sentence that the agent was in the middle of is lost to a session that goes on in another
   * process (docs/live-protocol.md): as often as that happened one each may have been begun on the page and be in no
   * log. A process need not die for it: the sockets of both media processes come in by one port, and who calls back may
   * come to the other one.
   */
  async function expectOneTranscript(visitor: Visit): Promise<void> {
    const told = await visitor.statuses();
    expect(told.at(-1)).toMatchObject({ status: 'disconnected', reason: 'agent_hangup' });
    const callUuids = new Set(told.slice(1).map(({ callUuid }) => callUuid));
    expect(callUuids.size).toBe(1);
    const [callUuid] = callUuids;
    const entry = await gateway.client.waitFor(callUuid!, 'the end', ({ status }) => status === 'completed');
    const captions = createCaptions();
    for (const message of (await visitor.page.evaluate('words')) as TranscriptMessage[]) captions.take(message);
    const begun = captions.lines.filter(({ final }) => !final).map(({ turnId }) => turnId);
    const [row] = await database.query<{ epoch: number }>('SELECT epoch FROM calls WHERE call_uuid = $1', [callUuid]);
    expect(begun.length, begun.join()).toBeLessThanOrEqual(row!.epoch - FIRST_EPOCH);
    const lines = captions.lines
      .filter(({ final, text }) => final && text !== '')
      .map(({ turnId, role, text }) => `${turnId} ${role}: ${text}`);
    expect(lines).toEqual(
      entry.turns
        .filter(({ heardText }) => heardText !== '')
        .map(({ turnId, role, heardText }) => `${turnId} ${role}: ${heardText}`),
    );
  }

  const words = (told: { status: string }[]): string[] => told.map(({ status }) => status);
  const ONCE_LOST = ['connecting', 'connected', 'connecting', 'connected', 'disconnected'];

  describe.concurrent('two at a time', () => {
    it.sequential.each(['', 'data-codec="pcm"'])(
      'are through with each other in Opus or PCM (%s)',
      async (attributes) => {
        const visitor = await call(attributes);
        await visitor.until(isOver);
        const said = await finals(visitor);
        const agentSaid = said
          .filter(({ role }) => role === 'agent')
          .map(({ text }) => text)
          .join(' ');
        expect(agentSaid).toContain('Very good. Shall I go on?');
        expect(agentSaid).toContain('I am glad that we talked. Goodbye.');
        expect(said.filter(({ role }) => role === 'user').map(({ text }) => text)).toContain('yes please');
        expect(visitor.errors).toEqual([]);
        await expectOneTranscript(visitor);
        await visitor.close();
      },
    );
  });

  describe.concurrent('and two beside them', () => {
    it.sequential.each([
      ['a line that is cut and refused three times', 'refuse', 3],
      // It notices by itself that nothing comes any more, gives up its first call back, and calls again.
      ['a black hole that swallows two calls back too', 'hole', 2],
    ] as const)('go on as the same call after %s', async (_loss, mode, callsInVain) => {
      const line = await startLine(gateway.service.publicUrl);
      const visitor = await call('', line.url, { isPatient: mode !== 'hole' });
      await visitor.until(agentSpeaks);
      line.mode = mode;
      if (mode === 'refuse') line.reset();
      await eventually('calls in vain', () => line.callsInVain >= callsInVain);
      await visitor.until('told.at(-1).status === "connecting"');
      line.mode = 'through';
      await visitor.until(isOver);
      const told = words(await visitor.statuses());
      if (mode === 'refuse') expect(told).toEqual(ONCE_LOST);
      // It waits only its own 3 s for whatever is silent: a machine that stands still makes another loss.
      else expect(told.join(' ')).toMatch(/^connecting connected( connecting connected)+ disconnected$/);
      await expectOneTranscript(visitor);
      await visitor.close();
      line.close();
    });
  });

  it('go on as the same call when its media process is killed, and again when all of them are', async () => {
    const visitor = await call('', undefined, {}, rosa);
    await visitor.until(agentSpeaks);
    const { callUuid } = (await visitor.statuses()).find(({ status }) => status === 'connected')!;
    const claim = async (): Promise<{ epoch: number; media: SupervisedChild }> => {
      const [row] = await database.query<{ epoch: number; id: string }>(
        'SELECT epoch, owner_media_id AS id FROM calls WHERE call_uuid = $1',
        [callUuid],
      );
      return { epoch: row!.epoch, media: gateway.service.media[Number(/\d+$/.exec(row!.id)![0])]! };
    };
    const { media: owner } = await claim();
    for (const victims of [[owner], gateway.service.media]) {
      const before = await claim();
      // What the page has seen is in the log: a turn that control was never told of would be spoken anew.
      const seen: number = await visitor.page.evaluate(turnsSaid);
      await gateway.client.waitFor(callUuid!, 'its turns', ({ turns }) => turns.length >= seen);
      for (const child of victims) process.kill(child.pid()!, 'SIGKILL');
      await eventually('the next claim', async () => (await claim()).epoch > before.epoch);
      const said: number = await visitor.page.evaluate(turnsSaid);
      await visitor.until(`${turnsSaid} > ${said + 1}`);
    }
    // Into whatever is being said: what was missed is said again.
    await visitor.page.evaluate('window.parting = setInterval(() => ServiceVoice.sendText("no"), 3000); 0');
    await visitor.until(isOver);
    await visitor.page.evaluate('clearInterval(window.parting)');
    await expectOneTranscript(visitor);
    await visitor.close();
  });
});
