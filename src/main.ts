/**
 * The control process: settings, log, database, then `control.ts`; says `ready` over IPC when it serves. `stopping`
 * from the supervisor means: refuse new calls, say `calls_over` when the last active one is. SIGTERM, or the supervisor
 * being gone: refuse new calls at once, finish requests that are under way, exit 0. A second signal exits now.
 */
import pino, { type Logger } from 'pino';
import { systemClock } from '../media/contract/clock.ts';
import { safeLogOptions } from '../media/contract/log-safety.ts';
import { type Config, loadConfig } from './config/load.ts';
import { type Control, startControl } from './control/control.ts';
import { isDatabaseAway } from './store/database-away.ts';
import { migrate } from './store/migrate.ts';

const DATABASE_WAIT_MS = 60_000;
const DATABASE_RETRY_MS = 500;
/**
 * Waits for PostgreSQL up to a minute; anything but its absence (a wrong password, a broken migration) ends it at once.
 */
async function migrateWhenThere(config: Config, log: Logger): Promise<void> {
  const untilMs = systemClock.nowMs() + DATABASE_WAIT_MS;
  let told = false;
  for (;;) {
    try {
      await migrate(config.databaseUrl, { say: (line) => log.info(line) });
      return;
    } catch (error) {
      if (!isDatabaseAway(error) || systemClock.nowMs() > untilMs) throw error;
      if (!told)
        log.warn({ err: error }, `PostgreSQL (DATABASE_URL) does not answer; trying for ${DATABASE_WAIT_MS / 1000} s`);
      told = true;
      await new Promise<void>((resolve) => systemClock.after(DATABASE_RETRY_MS, resolve));
    }
  }
}

async function main(): Promise<void> {
  const config = loadConfig();
  const log = pino({
    name: 'control',
    level: config.logLevel,
    ...safeLogOptions([...config.masterKeys, config.metricsToken ?? '']),
  });
  let control: Control | null = null;
  let stopping = false;
  const stop = (cause: string): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ cause }, 'control stops');
    void (control?.close() ?? Promise.resolve()).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'control could not close in order');
        process.exit(1);
      },
    );
  };
  let serviceStops = false;
  /** The whole service is being stopped: calls go on under our hands, and we say when the last one is over. */
  const refuseNewCalls = (): void => {
    if (control === null || !serviceStops) return;
    void control.refuseNewCalls().then(() => process.send?.({ type: 'calls_over' }));
  };
  process.on('message', (message) => {
    if ((message as { type?: string }).type !== 'stopping' || serviceStops) return;
    serviceStops = true;
    log.info('the service is being stopped: new calls are refused, live ones go on');
    refuseNewCalls();
  });
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => stop('the supervisor is gone'));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'a fault that nothing caught; control starts anew');
      process.exit(1);
    });
  }

  try {
    await migrateWhenThere(config, log);
    control = await startControl(config, systemClock, log);
  } catch (error) {
    log.fatal({ err: error }, 'control could not start');
    process.exit(1);
  }
  if (stopping) {
    await (control as Control).close();
    return;
  }
  refuseNewCalls();
  log.info({ publicUrl: config.publicUrl }, 'control serves');
  process.send?.({ type: 'ready' });
}

await main();
