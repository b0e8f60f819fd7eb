/**
 * What most browser tests stand on: Chromium, the small service and a website. The first is the worker's, the others
 * are made once a file.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type Site, sharedBrowser, startSite, type Visit, type VisitOptions, visit } from './chromium.ts';
import { type FakeLive, startFakeLive } from './fake-live.ts';

export interface Rig {
  browser: Browser;
  live: FakeLive;
  site: Site;
  /** The script element with these attributes. */
  script(attributes: string): string;
  /** Opens a page with this in its body. */
  open(body: string, options?: VisitOptions): Promise<Visit>;
}

export function useRig(): Rig {
  const rig = {} as Rig;
  beforeAll(async () => {
    [rig.browser, rig.live, rig.site] = await Promise.all([sharedBrowser(), startFakeLive(), startSite()]);
  });
  afterAll(async () => {
    await rig.live?.close();
    rig.site?.close();
  });
  rig.script = (attributes) =>
    `<script async src="${rig.live.url}/embed.js" data-public-key="pk_1" data-agent-id="a1" ${attributes}></script>`;
  rig.open = (body, options = {}) => {
    rig.site.html = `<!doctype html><html lang="en"><title>A page</title><body><main><h1>A page</h1>${body}</main>`;
    return visit(rig.browser, rig.site.url, options);
  };
  return rig;
}
