import { describe, expect, it } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const words = (told: { status: string }[]): string[] => told.map(({ status }) => status);

describe.skipIf(!hasChromium)('window.ServiceVoice on a page with data-ui="custom"', () => {
  const rig = useRig();

  it('starts and ends by its methods, tells each status once, and starts again', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    const { page } = visitor;
    expect(await page.evaluate('document.querySelectorAll("[data-service-voice]").length')).toBe(0);
    const outcome = await page.evaluate(
      'Promise.all([ServiceVoice.start(), ServiceVoice.start()]).then((both) => [both[0] === both[1], both[0].status])',
    );
    expect(outcome).toEqual([true, 'connected']);
    await page.evaluate('ServiceVoice.end(); ServiceVoice.end(); 0');
    await page.evaluate('ServiceVoice.start({ name: "Asha", metadata: { plan: "gold" } })');
    const session = rig.live.sessions.at(-1)!;
    expect(session.start).toMatchObject({
      name: 'Asha',
      metadata: { plan: 'gold' },
      client: { sdk: 'embed.js', echoCancellation: true },
      protocol: '1',
    });
    const told = await visitor.statuses();
    expect(words(told)).toEqual(['connecting', 'connected', 'disconnected', 'connecting', 'connected']);
    expect(told[1]).toEqual({ status: 'connected', callUuid: expect.any(String) });
    expect(told[2]!.reason).toBe('user_hangup');
    session.end('agent_hangup');
    await visitor.until('told.length === 6');
    expect((await visitor.statuses()).at(-1)).toMatchObject({ status: 'disconnected', reason: 'agent_hangup' });
    expect(visitor.errors).toEqual([]);
    await visitor.close();
  });

  it('tells the reason that the service gave, also when the last words end just before the socket is closed', async () => {
    // The widget looks for silence each 50 ms. Here each 1.5 s: the words of 0.6 s end, and the close at 1 s comes,
    // between two looks.
    const slowLooks =
      '{ const later = window.setTimeout; window.setTimeout = (run, ms, ...rest) => later(run, ms === 50 ? 1500 : ms, ...rest) }';
    const visitor = await rig.open(rig.script('data-ui="custom"'), { init: slowLooks });
    await visitor.page.evaluate('ServiceVoice.start()');
    rig.live.sessions.at(-1)!.end('agent_hangup', 1_000);
    await visitor.waitForStatus('disconnected');
    expect((await visitor.statuses()).at(-1)).toMatchObject({ status: 'disconnected', reason: 'agent_hangup' });
    await visitor.close();
  });

  it('isolates a handler that throws, tells a late one the present status, and forgets one that unsubscribed', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    const { page } = visitor;
    await page.evaluate(`window.late = []; window.gone = 0;
      ServiceVoice.on('status', () => { throw new Error('of the page') });
      const off = ServiceVoice.on('status', () => { gone++ }); off(); off();
      ServiceVoice.on('status', 'no function'); ServiceVoice.on('nothing', () => {}); 0`);
    await page.evaluate('ServiceVoice.start()');
    await page.evaluate('ServiceVoice.on("status", (one) => late.push(one.status)); 0');
    expect(await page.evaluate('[late, gone]')).toEqual([['connected'], 0]);
    // A handler that hangs up when it hears of the connection: everybody sees the same order.
    await page.evaluate(
      'ServiceVoice.end(); ServiceVoice.on("status", ({ status }) => { if (status === "connected") ServiceVoice.end() }); ServiceVoice.start()',
    );
    await visitor.until('late.length >= 4');
    expect(await page.evaluate('late')).toEqual([
      'connected',
      'disconnected',
      'connecting',
      'connected',
      'disconnected',
    ]);
    expect(new Set(visitor.errors)).toEqual(new Set(['of the page']));
    await visitor.close();
  });

  it('takes targets by data-trigger, by the marker and by bind(), whenever they come, and keeps a call whose target goes', async () => {
    const visitor = await rig.open(
      `<button id="one"><b>One</b></button><p data-service-talk>Two</p>${rig.script('data-ui="custom" data-trigger="#one"')}`,
    );
    const { page } = visitor;
    const callBy = async (target: string): Promise<void> => {
      const before = rig.live.sessions.length;
      await page.click(target);
      await rig.live.waitFor(`a call by ${target}`, () => rig.live.sessions.length > before);
      await visitor.until('told.at(-1).status === "connected"');
      await page.evaluate('ServiceVoice.end()');
    };
    await callBy('#one b');
    await callBy('p');
    await page.evaluate(`ServiceVoice.bind('.three'); ServiceVoice.bind('###'); ServiceVoice.bind('.three');
      document.body.insertAdjacentHTML('beforeend', '<button class="three">Three</button><span data-service-talk id="four">Four</span><div id="host"></div>');
      document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<button data-service-talk id="five">Five</button>'; 0`);
    await callBy('.three');
    await callBy('#four');
    await callBy('#five');
    expect(await page.evaluate('document.querySelector("p").getAttribute("role")')).toBe('button');
    await page.focus('p');
    const before = rig.live.sessions.length;
    await page.keyboard.press('Enter');
    await rig.live.waitFor('a call by the Enter key', () => rig.live.sessions.length > before);
    await visitor.until('told.at(-1).status === "connected"');
    await page.evaluate('document.body.replaceChildren(); history.pushState({}, "", "/elsewhere"); 0');
    const session = rig.live.sessions.at(-1)!;
    const heard = session.packets.length;
    await rig.live.waitFor(
      'the microphone, after the page has replaced its body',
      () => session.packets.length > heard + 20,
    );
    expect(words(await visitor.statuses()).at(-1)).toBe('connected');
    expect(visitor.errors).toEqual([]);
    await visitor.close();
  });

  it('carries out what was called of a stub before it came, but no start() without a gesture', async () => {
    const stub = `<script>window.ServiceVoice = { q: [] };
      for (const name of ['start', 'end', 'open', 'close', 'bind', 'on']) ServiceVoice[name] = (...given) => ServiceVoice.q.push([name, given]);
      window.early = []; ServiceVoice.on('status', (one) => early.push(one)); ServiceVoice.bind('#late'); ServiceVoice.start();</script><button id="late">L</button>`;
    const visitor = await rig.open(stub + rig.script('data-ui="custom"'));
    expect(await visitor.page.evaluate('early')).toMatchObject([
      { status: 'error', code: 'policy_blocked', reason: 'gesture_required' },
    ]);
    await visitor.page.click('#late');
    await visitor.until('early.at(-1).status === "connected"');
    await visitor.close();
  });

  it('hangs up when the page goes away, and works again when it comes back', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    await visitor.page.evaluate('ServiceVoice.start()');
    const session = rig.live.sessions.at(-1)!;
    await visitor.page.goto(`${rig.site.url}/other`);
    // A busy browser may take the line away before the goodbye is out: the service then ends
    // the call when its window closes.
    await rig.live.waitFor('the end of the line', () => session.closeCodes.length > 0);
    await visitor.page.goBack();
    await visitor.until('window.ServiceVoice && ServiceVoice.version');
    expect(await visitor.page.evaluate('ServiceVoice.start().then((one) => one.status)')).toBe('connected');
    await visitor.close();
  });

  it('sends text, digits and mute, and answers a tool of the page', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'));
    await visitor.page.evaluate(`ServiceVoice.tool('add', ({ a, b }) => a + b); ServiceVoice.tool('bad', () => { throw new Error('broken') });
      ServiceVoice.start().then(() => { ServiceVoice.sendText('hello'); ServiceVoice.sendDigits('12#'); ServiceVoice.mute(true); })`);
    const session = rig.live.sessions.at(-1)!;
    for (const [toolCallId, name] of [
      ['c1', 'add'],
      ['c2', 'bad'],
      ['c3', 'none'],
    ]) {
      session.send({ type: 'tool.call', toolCallId, name, arguments: { a: 1, b: 2 }, timeoutMs: 1000, ordinal: 9 });
    }
    await rig.live.waitFor(
      'three results',
      () => session.received.filter((one) => one.type === 'tool.result').length === 3,
    );
    const results = session.received.filter((one) => one.type === 'tool.result');
    expect(results).toEqual(
      expect.arrayContaining([
        { type: 'tool.result', toolCallId: 'c1', result: 3 },
        { type: 'tool.result', toolCallId: 'c2', error: 'broken' },
        { type: 'tool.result', toolCallId: 'c3', error: 'this page has no tool none' },
      ]),
    );
    expect(session.received).toEqual(
      expect.arrayContaining([
        { type: 'user.text', text: 'hello', interrupt: true },
        { type: 'dtmf', digits: '12#' },
        { type: 'audio.mute', muted: true },
      ]),
    );
    // Frames that were in the encoder still come.
    await rig.live.waitForRest('the muted microphone', () => session.packets.length);
    await visitor.close();
  });

  it('gives each of two scripts its own agent, and ends the one when the other starts', async () => {
    const first = rig.script('data-ui="custom" data-trigger="#a"').replace('async', 'defer');
    const second = rig.script('data-ui="custom" data-trigger="#b"').replace('a1', 'a2').replace('async', 'defer');
    const visitor = await rig.open(
      `<button id="a">A</button><button id="b">B</button><i data-service-talk="a2">C</i>${first}${second}`,
    );
    await visitor.page.click('#a');
    await visitor.waitForStatus('connected');
    const running = rig.live.sessions.at(-1)!;
    await visitor.page.click('#b');
    await rig.live.waitFor('the second call', () => rig.live.sessions.at(-1) !== running);
    expect((await visitor.statuses()).at(-1)).toMatchObject({ status: 'disconnected', reason: 'replaced' });
    await visitor.close();
  });
});
