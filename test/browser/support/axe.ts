/** What axe finds on a page, for every test that asks whether a page is open to everybody. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Enough of an element to find it by. */
const MARKUP_CHARACTERS = 160;
/** Only what is wrong leaves the page, told as it is to be shown: all that is right is a hundred times as much. */
const JUDGE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) =>
    id + ': ' + nodes.map(({ html }) => html.slice(0, ${MARKUP_CHARACTERS})).join(' | ')))`;

/**
 * Of the page as it stands, a line for each rule that it breaks. Axe judges in the page itself, which has no frames,
 * and is brought in once a document: a console that goes from page to page stays one, and Chromium spends as much on
 * reading axe as on what axe does.
 */
export async function axeFaults(page: Page): Promise<string[]> {
  const frames = page.frames().length;
  if (frames > 1) throw new Error(`${page.url()} has ${frames} frames: this would not look into those of others`);
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`)) await page.evaluate(axe.source);
  return page.evaluate<string[]>(JUDGE);
}
