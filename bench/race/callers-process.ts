/** The race's side of `caller/main.ts`: one run of callers, and its three moments. */
import { fork } from 'node:child_process';
import { builtEntry } from '../../src/config/built-entry.ts';
import type { CallerOrder, CallerReport, FromCallers } from './caller/orders.ts';

/** The subject did not take its conversations. */
export class NotTaken extends Error {
  override name = 'NotTaken';
}

export interface CallersRun {
  began: Promise<void>;
  ended: Promise<void>;
  report: Promise<CallerReport>;
  stop(): void;
}

export function startCallers(order: CallerOrder): CallersRun {
  const child = fork(builtEntry('bench/race/caller/main.js'), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C is for the race, which ends what it began.
    detached: true,
  });
  const told = new Map<FromCallers['type'], (message: FromCallers) => void>();
  let fail: (error: Error) => void = () => {};
  const failure = new Promise<never>((_, failed) => {
    fail = failed;
  });
  const moment = <Told>(type: FromCallers['type'], read: (message: FromCallers) => Told): Promise<Told> => {
    const happens = Promise.race([new Promise<FromCallers>((done) => told.set(type, done)), failure]).then(read);
    // Who waits for a later moment hears of it there.
    happens.catch(() => {});
    return happens;
  };
  const began = moment('began', () => {});
  const ended = moment('ended', () => {});
  const report = moment('report', (message) => (message as Extract<FromCallers, { type: 'report' }>).report);
  child.on('message', (message: FromCallers) => {
    if (message.type === 'ready') child.send(order);
    else if (message.type === 'failed') fail(new NotTaken(message.why));
    else told.get(message.type)?.(message);
  });
  child.once('exit', () => fail(new Error('the callers ended before their report')));
  return {
    ...{ began, ended, report },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}
