/**
 * `npm start`: the service for real use. SIGTERM, Ctrl-C or the terminal's end drains (active calls may finish); once
 * more ends at once.
 */
import { loadServiceSettings } from '../config/service-settings.ts';
import { sayConsole } from './first-user-link.ts';
import { startService } from './service.ts';
import { watchStarter } from './starter-watch.ts';

const SAME_SIGNAL_MS = 300;

const log = (line: string): void => {
  process.stderr.write(`parley: ${line}\n`);
};

// A terminal that is gone must not end the process that has to end the others in order.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  const settings = loadServiceSettings(process.env);
  const service = await startService({ settings, log });
  log(`serving at ${service.publicUrl} (port ${settings.port} on ${settings.host})`);
  const isTerminal = process.stderr.isTTY === true;
  await sayConsole({ databaseUrl: service.databaseUrl, publicUrl: service.publicUrl, isTerminal, log }).catch(() => {});
  let asked = 0;
  let askedAtMs = 0;
  const end = (): void => {
    // Ctrl-C comes twice below npm: from the terminal, and passed on.
    const nowMs = performance.now();
    if (asked > 0 && nowMs - askedAtMs < SAME_SIGNAL_MS) return;
    askedAtMs = nowMs;
    asked++;
    log(asked === 1 ? 'draining: live calls may finish; once more ends at once' : 'ending now');
    if (asked === 1) void service.stop(settings.drainLimitMs).then(() => process.exit(0));
    else void service.kill().then(() => process.exit(1));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', end);
  watchStarter(process.env, () => asked === 0 && end());
} catch (error) {
  log(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
