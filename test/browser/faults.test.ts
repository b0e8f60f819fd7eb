import { describe, expect, it } from 'vitest';
import { hasChromium, newContext, type Visit } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const CUSTOM = 'data-ui="custom"';
/**
 * Keeps the streams that the page was given, and refuses one with the name of an error while `window.refuse` is one.
 */
const KEEP = `const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices); window.streams = [];
  navigator.mediaDevices.getUserMedia = async (wish) => { if (window.refuse) throw new DOMException('x', window.refuse); const one = await ask(wish); streams.push(one); return one }`;

describe.skipIf(!hasChromium)('what goes wrong has one code and a way out', () => {
  const rig = useRig();

  /** A start that fails leaves the page as it was: one page may try again and again. */
  async function codeOf(visitor: Visit): Promise<string | undefined> {
    const before = (await visitor.statuses()).length;
    await visitor.page.evaluate('ServiceVoice.start()');
    const told = (await visitor.statuses()).slice(before);
    expect(told.map(({ status }) => status)).toEqual(['connecting', 'error']);
    expect(told[1]!.message).toMatch(/\w{4,}.*\.$/);
    // The microphone's mark must go out.
    await visitor.until('streams.every((one) => one.getTracks().every((track) => track.readyState === "ended"))');
    return told[1]!.code;
  }

  const open = (microphone = true): Promise<Visit> => rig.open(rig.script(CUSTOM), { microphone, init: KEEP });

  async function codeOnPage(headers: Record<string, string>, microphone = true): Promise<string | undefined> {
    rig.site.headers = headers;
    const visitor = await open(microphone);
    const code = await codeOf(visitor);
    await visitor.close();
    rig.site.headers = {};
    return code;
  }

  it('at the microphone', async () => {
    expect(await codeOnPage({}, false)).toBe('mic_denied');
    const visitor = await open();
    for (const [harm, expected] of [
      ['refuse = "NotFoundError"', 'mic_missing'],
      ['refuse = "NotReadableError"', 'mic_missing'],
      ['delete window.AudioWorkletNode', 'unsupported_browser'],
    ] as const) {
      await visitor.page.evaluate(harm);
      expect(await codeOf(visitor), harm).toBe(expected);
    }
    await visitor.close();
  });

  it('at the page: policy, content policy, an insecure address', async () => {
    expect(await codeOnPage({ 'permissions-policy': 'microphone=()' }, false)).toBe('policy_blocked');
    for (const allowed of ["'self'", rig.live.url]) {
      const policy = `script-src ${rig.live.url}; connect-src ${allowed}`;
      expect(await codeOnPage({ 'content-security-policy': policy }), policy).toBe('csp_blocked');
    }
    const context = await newContext(rig.browser);
    const page = await context.newPage();
    await page.goto(`${rig.live.url.replace('127.0.0.1', 'insecure.test')}/livez`);
    await page.setContent(
      `<script src="${rig.live.url}/embed.js" data-public-key="p" data-agent-id="a" data-ui="custom"></script>`,
    );
    expect(await page.evaluate('ServiceVoice.start().then((one) => one.code)')).toBe('insecure_context');
    await context.close();
  });

  it('at the session', async () => {
    const visitor = await open();
    for (const [status, code, expected] of [
      [401, 'invalid_public_key', 'invalid_public_key'],
      [403, 'origin_not_allowed', 'origin_not_allowed'],
      [400, 'invalid_parent_origin', 'origin_not_allowed'],
      [404, 'agent_not_found', 'agent_not_found'],
      [429, 'embed_rate_limit', 'rate_limited'],
      [503, 'draining', 'server'],
      [500, 'internal_error', 'server'],
    ] as const) {
      rig.live.refusals.push({ status, code });
      expect(await codeOf(visitor), code).toBe(expected);
    }
    await visitor.close();
  });

  it('at the socket', async () => {
    const visitor = await open();
    for (const [code, close, expected] of [
      ['token_expired', 4401, 'token_expired'],
      ['origin_not_allowed', 4403, 'origin_not_allowed'],
      ['concurrency_limit', 4429, 'rate_limited'],
      ['server', 4500, 'server'],
    ] as const) {
      rig.live.closeNext = { code, close };
      expect(await codeOf(visitor), code).toBe(expected);
    }
    rig.live.refuseSockets = true;
    expect(await codeOf(visitor)).toBe('network');
    rig.live.refuseSockets = false;
    await visitor.close();
  });
});

describe.skipIf(!hasChromium)('a strict page', () => {
  const rig = useRig();
  it('needs its nonce, the service in connect-src, and nothing inline', async () => {
    const { url } = rig.live;
    const ws = url.replace('http', 'ws');
    rig.site.headers = {
      'content-security-policy': `default-src 'none'; script-src 'nonce-abc' ${url}; connect-src ${url} ${ws}; style-src 'nonce-abc'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types parley`,
      'permissions-policy': 'microphone=(self)',
    };
    const visitor = await rig.open(
      `<button id="talk">T</button>${rig.script('data-trigger="#talk" data-panel="overlay" nonce="abc"')}
      <script nonce="abc">document.querySelector('script[src]').onload = () => { document.body.id = 'loaded' }</script>`,
      { waitForApi: false },
    );
    await visitor.page.locator('#loaded').waitFor();
    await visitor.page.click('#talk');
    const session = await rig.live.waitFor('the session', () => rig.live.sessions.at(-1));
    await rig.live.waitFor(
      'both voices',
      () => session.packets.length > 20 && session.received.some((one) => one.type === 'playback.position'),
    );
    await visitor.page.keyboard.press('Escape');
    await rig.live.waitFor('the goodbye', () => session.received.some((one) => one.type === 'session.end'));
    expect(visitor.errors).toEqual([]);
    await visitor.close();
  });
});

describe.skipIf(!hasChromium)('a microphone that goes away in mid-call', () => {
  const rig = useRig();
  const UNPLUG =
    'const track = streams.at(-1).getTracks()[0]; track.stop(); track.dispatchEvent(new Event("ended")); 0';

  it('is replaced by the next one, and the call goes on', async () => {
    const visitor = await rig.open(rig.script(CUSTOM), { init: KEEP });
    await visitor.page.evaluate(
      'window.warnings = []; ServiceVoice.on("warning", (one) => warnings.push(one.code)); ServiceVoice.start()',
    );
    const session = rig.live.sessions.at(-1)!;
    await rig.live.waitFor('sound', () => session.packets.length > 10);
    await visitor.page.evaluate(UNPLUG);
    await visitor.until('warnings.length === 2');
    const before = session.packets.length;
    await rig.live.waitFor('sound of the next one', () => session.packets.length > before + 20);
    expect(await visitor.page.evaluate('warnings')).toEqual(['mic_lost', 'mic_found']);
    // None is left, then one is plugged in.
    await visitor.page.evaluate(`refuse = 'NotFoundError'; ${UNPLUG}`);
    await visitor.until('warnings.length === 3');
    await visitor.page.evaluate('refuse = null; navigator.mediaDevices.dispatchEvent(new Event("devicechange")); 0');
    await visitor.until('warnings.length === 4');
    // The permission is taken back.
    await visitor.page.evaluate(`refuse = 'NotAllowedError'; ${UNPLUG}`);
    await visitor.waitForStatus('error');
    expect((await visitor.statuses()).slice(-1)).toMatchObject([{ status: 'error', code: 'mic_denied' }]);
    await rig.live.waitFor('the goodbye', () => session.received.some((one) => one.type === 'session.end'));
    await visitor.close();
  });
});
