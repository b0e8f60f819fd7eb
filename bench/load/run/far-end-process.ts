/**
 * A process of far ends: it has a target of its own, begins the calls that it is given, and says what became of them
 * (`far-end-orders.ts`). Forked by `far-end-pool.ts`; ends when its parent's channel closes.
 */
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import { Clips } from '../speech/clips.ts';
import type { DrivenTarget } from '../targets/driven-target.ts';
import { openTarget } from '../targets/make-target.ts';
import type { FarEndOrder, FromFarEnd } from './far-end-orders.ts';
import { notBegun } from './not-begun.ts';
import { OwnLoad } from './own-load.ts';
import { createRunClock, type SettableRunClock } from './run-clock.ts';

const SECOND_MS = 1_000;
const ownLoad = new OwnLoad();
const clips = new Clips();
let target: DrivenTarget | null = null;
let clock: SettableRunClock;
let isHangingUp = false;

function say(message: FromFarEnd): void {
  if (process.connected) process.send?.(message);
}

async function obey(order: FarEndOrder): Promise<void> {
  switch (order.order) {
    case 'open':
      return open(order);
    case 'point':
      target?.point?.(order.deployment);
      return say({ said: 'pointed' });
    case 'check':
      return check();
    case 'begin':
      clock.begin(order.clockBeganAtMs);
      ownLoad.take();
      return say({ said: 'begun' });
    case 'call': {
      const { planned } = order;
      const call = await callAtItsInstant(planned);
      return say({ said: 'measured', call, callId: target!.callIdOf(planned.index) });
    }
    case 'hang-up':
      isHangingUp = true;
      await target?.hangUpAll(order.limitMs);
      return say({ said: 'hung-up' });
    case 'close':
      await target?.close();
      process.disconnect?.();
  }
}

/** It is given a moment before. */
async function callAtItsInstant(planned: PlannedCall): Promise<MeasuredCall> {
  const waitMs = planned.atMs - clock.nowMs();
  if (waitMs > 0) await new Promise<void>((done) => clock.after(waitMs, done));
  if (isHangingUp) return notBegun(planned, 'cut', null, 'the run was stopped under it');
  return target!.call(planned);
}

async function open({ plan, clockBeganAtMs }: Extract<FarEndOrder, { order: 'open' }>): Promise<void> {
  try {
    clock = createRunClock(clockBeganAtMs);
    target = await openTarget(plan, { clock, clips, frameSent: (lateMs) => ownLoad.frameSent(lateMs) });
    setInterval(() => say({ said: 'second', ...ownLoad.take() }), SECOND_MS).unref();
    say({ said: 'opened', carrierBase: target.carrierBase ?? null, fault: null });
  } catch (error) {
    say({ said: 'opened', carrierBase: null, fault: messageOf(error) });
  }
}

async function check(): Promise<void> {
  try {
    const { version } = await target!.check();
    // Before a call waits for them, and not for a target that is none; whoever says one that cannot be made is told.
    await clips.ready().catch(() => {});
    say({ said: 'checked', fault: null, version });
  } catch (error) {
    say({ said: 'checked', fault: messageOf(error), version: null });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

process.on('message', (order: FarEndOrder) => {
  obey(order).catch((error: unknown) => {
    process.stderr.write(`far end: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  });
});
// Ctrl-C in a terminal goes to the whole group; it is the main process that hangs up.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.once('disconnect', () => process.exit(0));
say({ said: 'ready' });
