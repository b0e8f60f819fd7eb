/**
 * The end of a media process, in its order: no new calls, those that there are to their end or to the limit, their last
 * words to control, then its parts. Made by `media/main.ts`, which knows what asks for it.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../contract/clock.ts';
import type { CallRegistry } from './call-registry.ts';
import type { ControlLink } from './control-link.ts';

export interface DrainDeps {
  /** How many media processes share the port, this one among them. */
  processes: number;
  /** Calls may go on for so long, unless the service ends sooner. */
  drainLimitMs: number;
  clock: Clock;
  log: Logger;
  registry: Pick<CallRegistry, 'activeCalls' | 'drain' | 'stopAll'>;
  link: Pick<ControlLink, 'flush'>;
  /** That no more calls come here, to control, which should not wait for it. */
  tellLoad(): void;
  /** New connections are for the others that share the port. */
  stopListening(): void;
  /** When all is said. */
  closeParts(): Promise<void>;
}

export interface Drain {
  isEnding(): boolean;
  /** Of several that share the port, one that is stopped alone leaves the answer to control: the others serve. */
  saysNotReady(): boolean;
  /** The supervisor ends the whole service in this time: nobody else will answer on our port. */
  serviceStops(limitMs: number): void;
  /** Ends the process. */
  begin(why: string): void;
}

/** The supervisor's word that the whole service stops may be read this much later than a SIGTERM. */
const STOPPING_WORD_MS = 200;
/** After the last call: until control has acknowledged what was said. */
const FLUSH_LIMIT_MS = 5000;
/** Calls that the drain's time limit ends get so long to say their last. */
const LAST_WORDS_LIMIT_MS = 8000;

export function createDrain(deps: DrainDeps): Drain {
  const { processes, clock, log, registry, link } = deps;
  let isEnding = false;
  /** Null: it does not. */
  let serviceStopsAtMs: number | null = null;

  /** How long active calls may go on from now. */
  const leftMs = (): number =>
    serviceStopsAtMs === null ? deps.drainLimitMs : Math.max(0, serviceStopsAtMs - clock.nowMs());

  async function drainAndExit(): Promise<void> {
    const drained = registry.drain();
    deps.tellLoad();
    await Promise.race([drained, pause(clock, leftMs())]);
    registry.stopAll();
    await Promise.race([drained, pause(clock, LAST_WORDS_LIMIT_MS)]);
    await link.flush(FLUSH_LIMIT_MS);
    await deps.closeParts();
    log.info('drained');
    process.exit(0);
  }

  return {
    isEnding: () => isEnding,
    saysNotReady: () => serviceStopsAtMs !== null || (isEnding && processes === 1),
    serviceStops(limitMs) {
      serviceStopsAtMs ??= clock.nowMs() + limitMs;
    },
    begin(why) {
      if (isEnding) return;
      isEnding = true;
      // Alone among several: what comes from now on is for the others, and must not be given to us to be refused.
      clock.after(STOPPING_WORD_MS, () => {
        if (processes > 1 && serviceStopsAtMs === null && process.connected) deps.stopListening();
      });
      log.info({ why, activeCalls: registry.activeCalls }, 'draining');
      void drainAndExit();
    },
  };
}
