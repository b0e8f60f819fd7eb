/** What axe finds on a page, for every test that asks whether a page is open to everybody. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Enough of an element to find it by. */
const MARKUP_CHARACTERS = 160;

/**
 * Of the page as it stands, a line for each rule that it breaks. Axe judges in the page itself: else it would carry all
 * that it found, right or wrong, to a page of its own to put frames together, and Chromium would spend more on that
 * page than on the judgement. Ours have no frames.
 */
export async function axeFaults(page: Page): Promise<string[]> {
  const frames = page.frames().length;
  if (frames > 1) throw new Error(`${page.url()} has ${frames} frames: this would not look into those of others`);
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => {
    return `${id}: ${nodes.map(({ html }) => html.slice(0, MARKUP_CHARACTERS)).join(' | ')}`;
  });
}
