/**
 * `/docs` in a browser: the whole reference under its policy, without a word to anybody else, and an operation tried
 * with a key.
 */
import type { AddressInfo } from 'node:net';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { type ApiFixture, createApiFixture } from '../unit/api/api-fixture.ts';
import { hasChromium, newContext, sharedBrowser } from './support/chromium.ts';

/** Half a window further down, and what is there drawn: whether that was the end. */
const PAGE_DOWN = `(async () => {
  const top = scrollY;
  scrollBy({ top: innerHeight / 2, behavior: 'instant' });
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  return scrollY === top;
})()`;

/** Of the operations that are drawn now. */
const BLOCK_IDS = `[...document.querySelectorAll('.opblock')].map(({ id }) => id)`;

describe.skipIf(!hasChromium)('/docs', () => {
  let api: ApiFixture;
  let page: Page;
  let origin: string;
  let operation: Locator;
  const asked: Request[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    api = await createApiFixture();
    // Not the address in the document: whoever opens the page by another name tries operations there all the same.
    await api.app.listen({ host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
    // A reference of this size is drawn where it is looked at: this window shows all of it.
    page = await (await newContext(await sharedBrowser(), { viewport: { width: 1280, height: 16_000 } })).newPage();
    page.on('request', (request) => asked.push(request));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    // A link leads to one operation and opens it.
    await page.goto(`${origin}/docs#/Directory/listAgents`);
    operation = page.locator('#operations-Directory-listAgents');
    await operation.locator('.try-out__btn').waitFor();
  });
  afterAll(async () => {
    await page?.context().close();
    await api?.close();
  });

  const tried = (): Request[] => asked.filter((request) => request.url() === `${origin}/api/developer/agents`);

  /** Sends it, and gives what is then shown: the status and the body of the answer, or why there was none. */
  async function execute(): Promise<string> {
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table tbody');
    const shown = (await answer.textContent()) ?? '';
    // Away with it, so that the next one is not taken for this one.
    await operation.locator('.btn-clear').click();
    await answer.waitFor({ state: 'detached' });
    return shown;
  }

  it('shows every operation to who reads it from its top to its end', async () => {
    const reader = await (await newContext(await sharedBrowser())).newPage();
    await reader.goto(`${origin}/docs`);
    await reader.waitForSelector('.opblock');
    const shown = new Set<string>();
    for (let isAtEnd = false; !isAtEnd; ) {
      // In one look: a question for each block, asked at each stop, is thousands.
      for (const id of await reader.evaluate<string[]>(BLOCK_IDS)) shown.add(id);
      isAtEnd = await reader.evaluate<boolean>(PAGE_DOWN);
    }
    await reader.context().close();
    const wanted = api.app.operations.map(({ tag, id }) => `operations-${tag}-${id}`);
    expect(wanted.length).toBeGreaterThan(80);
    expect([...shown].toSorted()).toEqual(wanted.toSorted());
  });

  it('breaks nothing of its policy while it is read and an operation is opened', async () => {
    await operation.locator('.try-out__btn').click();
    await operation.locator('.execute').waitFor();
    expect(errors).toEqual([]);
  });

  it('names the schemas of an operation that is opened, and shows what is within them', async () => {
    const answer = operation.locator('.responses-table .response').first();
    await answer.locator('button', { hasText: 'Schema' }).click();
    const schema = answer.locator('.model-box');
    await expect.poll(() => schema.textContent(), { timeout: PATIENCE_MS }).toMatch(/^Agents.*nextCursor/s);
  });

  it('tries an operation without a key, and shows how that is refused', async () => {
    expect(await execute()).toMatch(/^401.*"unauthorized"/s);
    expect(tried().map((request) => request.headers()['authorization'])).toEqual([undefined]);
    // Chromium itself tells each refused request.
    expect(errors.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it('tries it with the key that is typed in, and shows what is answered', async () => {
    await page.click('.auth-wrapper .authorize');
    const scheme = page.locator('.auth-container', { hasText: 'sv_live_' });
    await scheme.locator('input').fill(api.acme.key);
    await scheme.locator('button[type=submit]').click();
    await page.click('.btn-done');
    const shown = await execute();
    expect(shown).toMatch(/^200/);
    expect(shown).toContain(api.acme.agentId);
    expect(tried().at(-1)?.headers()['authorization']).toBe(`Bearer ${api.acme.key}`);
    expect(errors).toEqual([]);
  });

  it('asks nobody else', () => {
    const elsewhere = asked.map((request) => request.url()).filter((url) => !url.startsWith(`${origin}/`));
    expect(elsewhere.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(tried()).toHaveLength(2);
  });
});
