/** Every page of the console, in both looks, on a desktop and on a phone: it is there, quiet, and open to everybody. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

const SETTINGS = [
  ...['keys', 'lines', 'webhooks', 'widget', 'connections', 'tools', 'clips', 'calling', 'limits', 'retention'],
];
const PEOPLE = ['users', 'audit', 'account'];
const OPERATORS = [
  ['workspaces', 'New workspace'],
  ['service', 'Processes that carry calls'],
  ['doctor', 'Nothing was examined yet'],
  ['prices', 'No price yet'],
] as const;
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 740 };

/** The page, and what stands in a cell or among the filters and is cut off there. */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[document.documentElement, ...document.querySelectorAll('.table td, .filters')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.tagName + ' is ' + (one.scrollWidth - one.clientWidth) + ' px too narrow: ' + one.textContent.slice(0, 60))`);
}

describe.skipIf(!hasChromium)('a page of the console', () => {
  const rig = useConsole();

  it.each([
    { colorScheme: 'light', viewport: DESKTOP },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)(
    'has no fault of access in $colorScheme at $viewport.width px, and asks for nothing wider',
    async (look) => {
      const callUuid = await rig.finishedCall();
      const { acme } = rig.api;
      const pages: [path: string, shown: string][] = [
        ['home', 'Why calls are not dialled'],
        ['live', 'No call is in progress'],
        ['calls', 'Asha'],
        [`call/${callUuid}`, 'They asked when the practice is open.'],
        [`call/${callUuid}/replies`, 'Recogniser'],
        [`call/${callUuid}/details`, 'Ended because'],
        ['agents', 'Tone'],
        ['agents/new', 'A scripted agent'],
        [`agents/${acme.agentId}`, 'The most used, as a form'],
        [`agents/${acme.agentId}/versions`, 'In use'],
        ['leads', 'No lead yet'],
        ['leads/suppressions', 'The list is empty'],
        ...[...SETTINGS, ...PEOPLE].map((place): [string, string] => [`settings/${place}`, 'Settings']),
      ];
      const faults: string[] = [];
      const visit = await rig.visit('owner', '#/', { ...look, isOperator: true });
      for (const [path, shown] of pages) {
        await visit.go(`#/w/acme/${path}`);
        await visit.page.locator('.page').getByText(shown).first().waitFor();
        await visit.page.locator('.bone').first().waitFor({ state: 'detached' });
        faults.push(...(await axeFaults(visit.page)).map((fault) => `${path} ${fault}`));
        faults.push(...(await tooWide(visit.page)).map((fault) => `${path} ${fault}`));
      }
      for (const [place, shown] of OPERATORS) {
        await visit.go(`#/operator/${place}`);
        await visit.page.getByText(shown).first().waitFor();
        faults.push(...(await axeFaults(visit.page)).map((fault) => `operator/${place} ${fault}`));
        faults.push(...(await tooWide(visit.page)).map((fault) => `operator/${place} ${fault}`));
      }
      expect(faults).toEqual([]);
      expect(visit.errors).toEqual([]);
      await visit.close();
    },
  );

  it('is served under a policy that lets nothing foreign in, and its parts for ever and packed', async () => {
    const page = await fetch(`${rig.origin}/console/`);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const part = /\/console\/assets\/main-[A-Z0-9]{8}\.js/.exec(await page.text())?.[0] ?? '';
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(rig.origin + part, { headers: { 'accept-encoding': encoding } });
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(await answer.text()).toMatch(/^import/);
    }
    for (const path of ['main-AAAAAAAA.js', '..%2findex.html', 'main.js', '.env']) {
      expect((await fetch(`${rig.origin}/console/assets/${path}`)).status, path).toBe(404);
    }
    for (const path of ['/', '/console', '/console/?x=1']) {
      expect((await fetch(rig.origin + path)).headers.get('content-security-policy'), path).toBe(policy);
    }
    expect((await fetch(`${rig.origin}/console/other`)).status).toBe(404);
  });

  it('shows an analyst what an analyst may see, and says why the rest is not there', async () => {
    const callUuid = await rig.finishedCall();
    const visit = await rig.visit('analyst', `#/w/acme/call/${callUuid}`);
    await visit.page.getByText('does not include listening').waitFor();
    expect(await visit.page.locator('.page').textContent()).not.toContain('+14155550123');
    expect(await visit.page.locator('nav a').allTextContents()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('Operator')]),
    );
    await visit.go('#/w/acme/settings');
    expect(await visit.page.locator('.settings nav a').allTextContents()).toEqual(['Your account']);
    await visit.go('#/w/acme/agents');
    await visit.page.getByRole('table').waitFor();
    expect(await visit.page.locator('.page a').count()).toBe(0);
    await visit.close();
  });
});
