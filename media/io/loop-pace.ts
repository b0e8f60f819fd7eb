/**
 * How the I/O thread waits for the next tick when it is busy: asleep, deaf to its sockets, and then all of them at one go. `frame-clock.ts`
 * asks for it from `busyClients` on; `media/main.ts` makes it. What it costs is up to one tick (2 ms) of delay for whatever comes in; what it
 * saves is a wake-up, a turn of the event loop and a call of `epoll_wait` for nearly every message.
 */
import type { LoopPace } from './frame-clock.ts';

export function createLoopPace(busyClients: number): LoopPace {
  // Nobody ever rings it.
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  return {
    busyClients,
    afterInput(run) {
      // Immediates run right after the sockets were polled, and while one waits the loop does not block in that poll.
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
    sleep: (ms) => void Atomics.wait(nothing, 0, 0, ms),
  };
}
