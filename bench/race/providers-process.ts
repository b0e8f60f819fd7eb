/** The race's side of `providers/main.ts`. */
import { fork } from 'node:child_process';
import { builtEntry } from '../../src/config/built-entry.ts';
import { endChild } from '../harness/end-child.ts';
import type { FromProviders, ProvidersOrder } from './providers/orders.ts';

export type ProvidersReport = Extract<FromProviders, { type: 'report' }>;

export interface RaceProviders {
  port: number;
  /** Since it was asked last. */
  report(): Promise<ProvidersReport>;
  /** Nothing happens when they have ended. */
  order(order: ProvidersOrder): void;
  stop(): Promise<void>;
}

const STOP_LIMIT_MS = 2_000;

export async function startProviders(): Promise<RaceProviders> {
  const child = fork(builtEntry('bench/race/providers/main.js'), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C is for the race, which ends what it began.
    detached: true,
  });
  const next = (): Promise<FromProviders> =>
    new Promise((done, failed) => {
      const ended = (code: number | null): void =>
        failed(new Error(`the providers of the race ended with code ${code}`));
      child.once('exit', ended);
      child.once('message', (message: FromProviders) => {
        child.off('exit', ended);
        done(message);
      });
    });
  const ready = await next();
  if (ready.type !== 'ready') throw new Error('the providers of the race said something else than their port');
  return {
    port: ready.port,
    async report() {
      if (!child.connected) throw new Error('the providers of the race have ended');
      const told = next();
      child.send({ type: 'report' } satisfies ProvidersOrder);
      return (await told) as ProvidersReport;
    },
    order: (order) => void (child.connected && child.send(order)),
    stop: () => endChild(child, STOP_LIMIT_MS),
  };
}
