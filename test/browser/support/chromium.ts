/**
 * Chromium with a microphone that plays a file, and a website on an origin of its own whose pages a test writes. Code for the page is
 * handed over as text: tests run in Node and know no DOM.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';

const EXECUTABLE = '/usr/bin/chromium';
export const hasChromium = existsSync(EXECUTABLE);

export interface Site {
  url: string;
  /** What `/` answers from now on. */
  html: string;
  /** What other paths answer, for tests that share the site and run side by side. */
  pages: Map<string, string>;
  headers: Record<string, string>;
  close(): void;
}

/** `localhost` and not 127.0.0.1, where the service is: another origin, and a secure context all the same. */
export async function startSite(): Promise<Site> {
  const server: Server = createServer((request, response) => {
    if (request.url === '/other') return response.end('<!doctype html><title>Elsewhere</title>');
    const html = site.pages.get(request.url ?? '') ?? site.html;
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...site.headers }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const site: Site = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    html: '',
    pages: new Map(),
    headers: {},
    close: () => void server.close(),
  };
  return site;
}

/** Writes 16-bit mono PCM as a file for the fake microphone; it plays it again and again. */
export function writeMicrophoneFile(name: string, samples: Int16Array, rateHz: number): string {
  const path = join(tmpdir(), `parley-microphone-${process.pid}-${name}.wav`);
  const bytes = new Uint8Array(WAV_HEADER_BYTES + samples.byteLength);
  writeWavHeader(bytes, { codec: 'pcm_s16le', rateHz, channels: 1, dataBytes: samples.byteLength });
  bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), WAV_HEADER_BYTES);
  writeFileSync(path, bytes);
  return path;
}

export function toneFile(): string {
  const samples = new Int16Array(48_000);
  for (let i = 0; i < samples.length; i++) samples[i] = 8000 * Math.sin((2 * Math.PI * 300 * i) / 48_000);
  return writeMicrophoneFile('tone', samples, 48_000);
}

export async function launch(microphoneFile: string, extra: string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    timeout: PATIENCE_MS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphoneFile}`,
      ...extra,
    ],
  });
}

/** Its pages wait as patiently as everything else. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors that reached the page's console or its error event. */
  errors: string[];
  statuses(): Promise<{ status: string; code?: string; reason?: string; callUuid?: string; message?: string }[]>;
  waitForStatus(status: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the site's page in a context of its own. Pages keep what they are told in `window.told`. */
export async function visit(
  browser: Browser,
  url: string,
  options: { microphone?: boolean; waitForApi?: boolean; init?: string } = {},
): Promise<Visit> {
  const context = await newContext(browser);
  if (options.microphone !== false) await context.grantPermissions(['microphone'], { origin: new URL(url).origin });
  const page = await context.newPage();
  if (options.init !== undefined) await page.addInitScript(options.init);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(url);
  if (options.waitForApi !== false) {
    await page.waitForFunction('window.ServiceVoice && window.ServiceVoice.version');
    await page.evaluate('window.told = []; ServiceVoice.on("status", (one) => told.push(one)); 0');
  }
  return {
    page,
    context,
    errors,
    statuses: () => page.evaluate('window.told'),
    waitForStatus: (status) =>
      page.waitForFunction(`window.told.some((one) => one.status === ${JSON.stringify(status)})`).then(() => {}),
    close: () => context.close(),
  };
}
