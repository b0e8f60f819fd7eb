import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { hasChromium, startSite, type Visit, type VisitOptions, visit } from './support/chromium.ts';
import { useRig } from './support/rig.ts';
import { type Line, startLine } from './support/tcp-proxy.ts';

/** No wait is as long: it is not over by itself. */
const UNTIL_CUT_MS = 2 * PATIENCE_MS;

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.skipIf(!hasChromium)('a line that is lost in mid-call', () => {
  const rig = useRig();

  /** Breaks a call's line in the middle of an utterance; returns what the page was told and the session. */
  async function broken(harm: (line: Line, visitor: Visit) => Promise<unknown>, options: VisitOptions = {}) {
    const line = await startLine(rig.live.url);
    const site = await startSite();
    site.html = `<!doctype html><title>t</title>${rig.script('data-ui="custom"').replaceAll(rig.live.url, line.url)}`;
    const visitor = await visit(rig.browser, site.url, options);
    await visitor.page.evaluate(
      'window.words = []; ServiceVoice.on("transcript", (one) => words.push(one.turnId)); ServiceVoice.start()',
    );
    const session = rig.live.sessions.findLast((one) => one.origin === site.url)!;
    await rig.live.waitFor('sound', () => session.packets.length > 20);
    await harm(line, visitor);
    await rig.live.waitFor('the resumed session', () => session.resumes >= 1);
    await visitor.until('told.at(-1).status === "connected"');
    const before = session.packets.length;
    await rig.live.waitFor('the microphone again', () => session.packets.length > before + 25);
    await rig.live.waitFor('the agent again', () =>
      session.received.some((one) => one.type === 'playback.position' && one['utteranceId'] === 'u2'),
    );
    const told = await visitor.statuses();
    expect(visitor.errors.filter((one) => !/WebSocket|ERR_/.test(one))).toEqual([]);
    const words = await visitor.page.evaluate('words');
    await visitor.close();
    site.close();
    line.close();
    return { told, session, words };
  }

  it.concurrent('by a reset, and refused three times, goes on as the same call', async () => {
    const { told, session, words } = await broken(async (line, visitor) => {
      line.mode = 'refuse';
      line.reset();
      await rig.live.waitFor('three calls in vain', () => line.callsInVain >= 3);
      await visitor.until('told.at(-1).status === "connecting"');
      line.mode = 'through';
    });
    expect(told.map(({ status }) => status)).toEqual(['connecting', 'connected', 'connecting', 'connected']);
    expect(told[3]!.callUuid).toBe(told[1]!.callUuid);
    expect(told[2]).toMatchObject({ reason: 'resuming' });
    expect(session.start).toMatchObject({ type: 'session.resume', lastOrdinal: 1 });
    expect(words).toEqual(['t1', 't2']);
  });

  it.concurrent('by a hole that swallows everything is noticed by itself, and goes on', async () => {
    const notice = async (line: Line, visitor: Visit): Promise<void> => {
      line.mode = 'hole';
      await visitor.until('told.at(-1).status === "connecting"');
      line.mode = 'through';
      line.reset();
    };
    const { told, session } = await broken(notice, { isPatient: false });
    // Of its own 3 s a machine that stands still makes another loss, which need not be mended yet.
    const statuses = told.map(({ status }) => status).join(' ');
    expect(statuses).toMatch(/^connecting connected( connecting connected)+( connecting)?$/);
    expect(told[3]!.callUuid).toBe(session.callUuid);
  });

  it.concurrent('for a blink of 1 s is not shown at all', async () => {
    // The 1.5 s for which a loss is not shown are 200 s here: how long this machine needs to be
    // back is no matter of the test.
    const patient =
      '{ const later = window.setTimeout; window.setTimeout = (run, ms, ...rest) => later(run, ms === 1500 ? 200000 : ms, ...rest) }';
    const { told } = await broken(async (line) => line.reset(), { init: patient });
    expect(told.map(({ status }) => status)).toEqual(['connecting', 'connected']);
  });

  it('and cannot be resumed is exactly one error with code server', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    await visitor.page.evaluate('ServiceVoice.start()');
    rig.live.closeNext = { code: 'session_over', close: 4410 };
    rig.live.sessions.at(-1)!.cut();
    await visitor.waitForStatus('error');
    await sleep(500);
    const told = await visitor.statuses();
    expect(told.filter(({ status }) => status === 'error')).toMatchObject([{ code: 'server' }]);
    expect(told.filter(({ status }) => status === 'disconnected')).toEqual([]);
    await visitor.close();
  });

  it('takes barge-in to silence: what is unplayed is dropped, and said so', async () => {
    rig.live.greetingMs = UNTIL_CUT_MS;
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    await visitor.page.evaluate(
      'window.states = []; ServiceVoice.on("state", (one) => states.push({ ...one, atEpochMs: performance.timeOrigin + one.atMs })); ServiceVoice.start()',
    );
    const session = rig.live.sessions.at(-1)!;
    await rig.live.waitFor('500 ms of it', () =>
      session.received.some((one) => one.type === 'playback.position' && Number(one['playedMs']) >= 500),
    );
    // A page that a busy machine lets lose its line hears nothing more of it.
    rig.live.greetingMs = 0;
    session.clear();
    await visitor.until('states.some((one) => one.state === "silenced")');
    // What the page says after the silence comes after its last position.
    await visitor.page.evaluate('ServiceVoice.sendText("after")');
    await rig.live.waitFor('the text', () => session.received.some((one) => one['text'] === 'after'));
    const positions = () => session.received.filter((one) => one.type === 'playback.position');
    const cut = positions().at(-1)!;
    await sleep(400);
    expect(positions().at(-1)).toBe(cut);
    expect(Number(cut['playedMs'])).toBeLessThan(UNTIL_CUT_MS);
    rig.live.greetingMs = 600;
    await visitor.close();
  });
});
