/**
 * A visitor's Chromium on a customer's page with `embed.js`, where a Chromium is installed; else null. The page is on
 * an origin of its own. What happened is gathered for the rows that tell it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { openChromium } from '../harness/chromium.ts';
import { PATIENCE_MS } from '../harness/patience.ts';

export interface Site {
  origin: string;
  setHtml(html: string): void;
  close(): void;
}

export interface Visit {
  /** The script element as the page has it. */
  tag: string;
  hasApi: boolean;
  /** Statuses by what began the session. */
  clicked: string[];
  marked: string[];
  bound: string[];
  started: string[];
  /** On a page with a key that nobody has. */
  refused: string[];
  /** Before and after `open()`, and after `close()`. */
  panel: { shown: boolean; hidden: boolean; duringCall: boolean };
  greetingHeard: boolean;
}

export async function startSite(): Promise<Site> {
  let html = '';
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html),
  );
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    setHtml(text) {
      html = text;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Clicks, marks, binds and calls as a page would. Null: no Chromium, or no package that drives it. */
export async function visitPage(
  site: Site,
  page: { base: string; publicKey: string; agentId: string },
): Promise<Visit | null> {
  const browser = await openChromium(['--use-fake-ui-for-media-stream']);
  if (browser === null) return null;
  const tag = `<script async src="${page.base}/embed.js" data-public-key="${page.publicKey}" data-agent-id="${page.agentId}" data-ui="custom" data-trigger="#talk" data-panel="overlay"></script>`;
  site.setHtml(
    `<!doctype html><html lang="en"><title>Shop</title><button id="talk">Talk</button><button id="marked" data-service-talk>Here too</button><button id="later">And here</button>${tag}</html>`,
  );
  try {
    const seen = await gather(browser, site.origin, tag);
    site.setHtml(`<!doctype html><title>Shop</title>${tag.replace(page.publicKey, 'pk_nobody')}`);
    return { ...seen, refused: await refusedStatuses(browser, site.origin) };
  } finally {
    await browser.close();
  }
}

async function refusedStatuses(browser: Browser, origin: string): Promise<string[]> {
  const context = await browser.newContext();
  await context.grantPermissions(['microphone'], { origin });
  const page = await context.newPage();
  await page.goto(origin);
  const until = (script: string): Promise<unknown> => page.waitForFunction(script, undefined, { timeout: PATIENCE_MS });
  await until('window.ServiceVoice && window.ServiceVoice.version');
  await page.evaluate(`window.told = []; ServiceVoice.on('status', (one) => told.push(one.status)); 0`);
  await page.mouse.click(5, 5);
  await page.evaluate('ServiceVoice.start(); 0');
  await until(`told.includes('error') || told.includes('connected')`);
  return page.evaluate('told');
}

async function gather(browser: Browser, origin: string, tag: string): Promise<Omit<Visit, 'refused'>> {
  const context = await browser.newContext();
  await context.grantPermissions(['microphone'], { origin });
  const page = await context.newPage();
  // The panel's shadow root is closed to the page; here it is looked into.
  await page.addInitScript(`{
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: 'open' }); };
  }`);
  await page.goto(origin);
  const until = (script: string): Promise<unknown> => page.waitForFunction(script, undefined, { timeout: PATIENCE_MS });
  await until('window.ServiceVoice && window.ServiceVoice.version');
  await page.evaluate(`window.told = []; window.said = [];
    ServiceVoice.on('status', (one) => told.push(one.status));
    ServiceVoice.on('transcript', (one) => one.role === 'agent' && said.push(one.text ?? one.delta ?? '')); 0`);
  const shows = (): Promise<boolean> =>
    page.evaluate(`[...document.querySelectorAll('*')].some((one) => one.shadowRoot?.querySelector('dialog[open]'))`);
  /** Begins a session, waits until it is connected, ends it, and gives the statuses that were told. */
  const session = async (begin: () => Promise<unknown>, during?: () => Promise<void>): Promise<string[]> => {
    await page.evaluate('told.length = 0; 0');
    await begin();
    await until(`told.includes('connected') || told.includes('error')`);
    await during?.();
    await page.evaluate('ServiceVoice.end(); 0');
    await until(`told.includes('disconnected') || told.includes('error')`);
    return page.evaluate('[...told]');
  };

  let [duringCall, greetingHeard] = [false, false];
  const clicked = await session(
    () => page.click('#talk'),
    async () => {
      await until('said.length > 0');
      greetingHeard = true;
      duringCall = await shows();
    },
  );
  const marked = await session(() => page.click('#marked'));
  await page.evaluate(`ServiceVoice.bind('#later'); 0`);
  const bound = await session(() => page.click('#later'));
  const started = await session(() => page.evaluate('ServiceVoice.start(); 0'));
  const isOpen = `[...document.querySelectorAll('*')].some((one) => one.shadowRoot?.querySelector('dialog[open]'))`;
  await page.evaluate('ServiceVoice.open(); 0');
  await until(isOpen);
  const shown = await shows();
  await page.evaluate('ServiceVoice.close(); 0');
  await until(`!${isOpen}`);
  const hidden = !(await shows());
  const hasApi = await page.evaluate(
    `['start', 'end', 'open', 'close', 'bind', 'on'].every((name) => typeof ServiceVoice[name] === 'function')`,
  );
  return {
    tag,
    hasApi: hasApi === true,
    clicked,
    marked,
    bound,
    started,
    panel: { shown, hidden, duringCall },
    greetingHeard,
  };
}
