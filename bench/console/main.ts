/**
 * `npm run bench -- console`: what people at the console wait for, with the real service and a real Chromium: the calls
 * page among very many calls, the live board over very many live ones, the transcript beside its sound, and how far
 * behind a listener is. Each part has a service of its own, one after the other.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { openChromium } from '../harness/chromium.ts';
import { readNames, readOptions } from '../harness/options.ts';
import { measureCallLog } from './call-log.ts';
import { measureSteps } from './in-step.ts';
import { measureListening } from './listening.ts';
import { measureBoard } from './live-board.ts';
import { linesOf } from './report.ts';

const PARTS = ['log', 'board', 'step', 'listen'] as const;

const { values } = readOptions({
  command: 'npm run bench -- console',
  about: 'What people at the console wait for, in a real Chromium.',
  options: {
    only: { type: 'string', default: PARTS.join() },
    calls: { type: 'string', default: '100000' },
    visits: { type: 'string', default: '7' },
    live: { type: 'string', default: '500' },
    'begin-rate': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    'event-rate': { type: 'string', default: '20' },
    out: { type: 'string', default: 'data/bench/console.json' },
  },
  meanings: {
    only: `<list> of ${PARTS.join(', ')}`,
    calls: '<N> calls in the log of the workspace, and as many of others (log)',
    visits: '<N> times that the page is opened (log)',
    live: '<N> calls at once (board)',
    'begin-rate': '<N> of them begun a second (board)',
    seconds: '<N> how long things happen in them (board)',
    'event-rate': '<N> things a second (board)',
    out: '<file> for the figures as JSON',
  },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const parts = readNames('only', values.only, PARTS);

const browser = await openChromium(['--autoplay-policy=no-user-gesture-required', '--enable-precise-memory-info']);
if (browser === null) {
  log('There is no Chromium here, or no playwright-core: install both, or set CHROMIUM_PATH.');
  process.exit(2);
}
const measures = {
  log: () => measureCallLog(browser, { calls: Number(values.calls), visits: Number(values.visits), log }),
  board: () =>
    measureBoard(browser, {
      calls: Number(values.live),
      beginPerSecond: Number(values['begin-rate']),
      seconds: Number(values.seconds),
      eventsPerSecond: Number(values['event-rate']),
      log,
    }),
  step: () => measureSteps(browser, log),
  listen: () => measureListening(browser, log),
};
const figures: Record<string, unknown> = {};
let exitCode = 0;
let isStopped = false;
// Chromium is closed by playwright's own listeners: the part that is under way fails, and ends its service.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => (isStopped = true));
for (const part of parts) {
  if (isStopped) break;
  const loadBefore = loadavg()[0]!;
  try {
    const measured = await measures[part]();
    figures[part] = { ...measured, load: { before: loadBefore, after: loadavg()[0]! } };
    console.log(linesOf(part, figures[part] as never).join('\n'));
  } catch (error) {
    log(`${part}: ${String((error as Error).stack ?? error)}`);
    exitCode = 1;
  }
}
await browser.close();
mkdirSync('data/bench', { recursive: true });
const report = { at: new Date(), node: process.version, cores: availableParallelism(), figures };
writeFileSync(values.out, JSON.stringify(report, null, 2));
log(`written: ${values.out}`);
process.exit(isStopped ? 130 : exitCode);
