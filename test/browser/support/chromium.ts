/**
 * Chromium with a microphone that plays a file, and a website on an origin of its own whose pages a test writes. Code
 * for the page is handed over as text: tests run in Node and know no DOM.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';
import { eventually } from '../../support/eventually.ts';

const EXECUTABLE = '/usr/bin/chromium';
export const hasChromium = existsSync(EXECUTABLE);

/** A page of the site without a widget. */
const ELSEWHERE = '/other';

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
    if (request.url === ELSEWHERE) return response.end('<!doctype html><title>Elsewhere</title>');
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

function toneFile(): string {
  const samples = new Int16Array(48_000);
  for (let i = 0; i < samples.length; i++) samples[i] = 8000 * Math.sin((2 * Math.PI * 300 * i) / 48_000);
  return writeMicrophoneFile('tone', samples, 48_000);
}

/**
 * Playwright's own, which this switch takes the place of, and the process that Chromium would
 * start ahead for each page to come.
 */
const FEATURES_OFF = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'SpareRendererForSitePerProcess',
];

export async function launch(microphoneFile: string): Promise<Browser> {
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
      `--disable-features=${FEATURES_OFF.join()}`,
      '--process-per-site',
      // A name that is no `localhost`: a page of an insecure origin.
      '--host-resolver-rules=MAP insecure.test 127.0.0.1',
    ],
  });
}

let shared: Promise<Browser> | undefined;

/** One a worker, for all files that a worker runs: it ends with the worker. Its microphone plays a tone. */
export async function sharedBrowser(): Promise<Browser> {
  const isUp = (await shared?.catch(() => null))?.isConnected() === true;
  if (!isUp) shared = launch(toneFile());
  return shared!;
}

/** Its pages wait as patiently as everything else. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

export interface Visit {
  page: Page;
  /** Errors that reached the page's console or its error event. */
  errors: string[];
  statuses(): Promise<{ status: string; code?: string; reason?: string; callUuid?: string; message?: string }[]>;
  waitForStatus(status: string): Promise<void>;
  /** Until this expression is true in the page. */
  until(expression: string): Promise<void>;
  close(): Promise<void>;
}

export interface VisitOptions {
  /** Default true. False: a context of its own, which grants none. */
  microphone?: boolean;
  waitForApi?: boolean;
  /** Runs before the page's own scripts. */
  init?: string;
  /** A page of the service, with its content security policy. */
  isOurs?: boolean;
  /** False for tests of the widget's own limits: of a lost line above all. */
  isPatient?: boolean;
}

/**
 * A look each so many ms and not, as is the default, at each frame: a page that draws only to be looked at costs more
 * than a call.
 */
const LOOK_EVERY_MS = 50;

/**
 * The widget gives up a line that is silent for 3, 5 or 10 s. A page on a busy machine may be
 * that late, and its line is good.
 */
const PATIENT_WIDGET = `{ const later = window.setTimeout;
  window.setTimeout = (run, ms, ...rest) => later(run, [3000, 5000, 10000].includes(ms) ? 30 * ms : ms, ...rest) }`;

/**
 * Of each browser, one for all pages that may use the microphone. A page of it stays open: with `--process-per-site`
 * the later ones live in its process, and Chromium spends more on the start of a process than on a page.
 */
const contexts = new WeakMap<Browser, Promise<BrowserContext>>();

function contextOf(browser: Browser, url: string): Promise<BrowserContext> {
  const open = async (): Promise<BrowserContext> => {
    const context = await newContext(browser, { permissions: ['microphone'] });
    await (await context.newPage()).goto(new URL(ELSEWHERE, url).href);
    return context;
  };
  const context = contexts.get(browser) ?? open();
  contexts.set(browser, context);
  return context;
}

/** Opens the site's page. Pages keep what they are told in `window.told`. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const ownContext = options.microphone === false ? await newContext(browser) : null;
  const page = await (ownContext ?? (await contextOf(browser, url))).newPage();
  if (options.isPatient !== false) await page.addInitScript(PATIENT_WIDGET);
  if (options.init !== undefined) await page.addInitScript(options.init);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(url);
  const until = async (expression: string): Promise<void> => {
    // Our own pages allow no code that is text, and what waits in the page is such.
    if (options.isOurs === true) await eventually(expression, () => page.evaluate(expression));
    else await page.waitForFunction(expression, undefined, { polling: LOOK_EVERY_MS });
  };
  if (options.waitForApi !== false) {
    await until('window.ServiceVoice && window.ServiceVoice.version');
    await page.evaluate('window.told = []; ServiceVoice.on("status", (one) => told.push(one)); 0');
  }
  return {
    page,
    errors,
    statuses: () => page.evaluate('window.told'),
    waitForStatus: (status) => until(`window.told.some((one) => one.status === ${JSON.stringify(status)})`),
    until,
    close: () => (ownContext ?? page).close(),
  };
}
