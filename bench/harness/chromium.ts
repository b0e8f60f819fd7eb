/**
 * A real Chromium, where one is installed and the package that drives it is too. Code for a page is handed over as
 * text: Node knows no DOM. Used by the tour and by `bench/console`.
 */
import { existsSync } from 'node:fs';
import type { Browser, BrowserType } from 'playwright-core';

const CHROMIUMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const chromiumPath = (): string | null =>
  [process.env['CHROMIUM_PATH'], ...CHROMIUMS].find((path) => path !== undefined && existsSync(path)) ?? null;

/** Null: no Chromium, or no package that drives it. */
export async function openChromium(options: readonly string[] = []): Promise<Browser | null> {
  const executablePath = chromiumPath();
  if (executablePath === null) return null;
  // A development package: its name is not imported, so that nothing that is shipped depends on it.
  const name = 'playwright-core';
  const driver = (await import(name).catch(() => null)) as { chromium: BrowserType } | null;
  if (driver === null) return null;
  return driver.chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--use-fake-device-for-media-stream', ...options],
  });
}
