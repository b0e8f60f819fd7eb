/**
 * What a change of a call asks for once it is committed: hang up at the carrier, stop the media, render the greeting.
 * Never blocks the one who asked, never throws; each may be done twice without harm. What fails for good is logged
 * once, and the call's timers bring it to its end all the same.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { CallRow } from '../calls/call-row.ts';
import type { LineCarriers } from './line-carriers.ts';
import type { SideEffect } from './observe.ts';

/** Commands to the media processes; `src/media-link` implements it. */
export interface MediaCommands {
  stop(call: CallRow): void;
  prepare(call: CallRow): Promise<void>;
}

export interface SideEffectsDeps {
  lineCarriers: LineCarriers;
  media: MediaCommands;
  clock: Clock;
  log: Logger;
}

export interface SideEffects {
  perform(call: CallRow, effects: readonly SideEffect[]): void;
  /** One attempt. False: the carrier could not be reached. */
  hangUpOnce(call: CallRow): Promise<boolean>;
}

const HANG_UP_PAUSES_MS = [0, 500, 2_000, 5_000] as const;

export function createSideEffects({ lineCarriers, media, clock, log }: SideEffectsDeps): SideEffects {
  async function hangUpOnce(call: CallRow): Promise<boolean> {
    const { carrierCallId, carrierRequestId } = call;
    // Nothing is known of it at the carrier: its answer URL will get the hang-up document, should it ever ask.
    if (carrierCallId === null && carrierRequestId === null) return true;
    const carrier = await lineCarriers.of(call);
    const cancelled =
      call.answeredAt === null && carrierRequestId !== null ? await carrier.cancel(carrierRequestId) : true;
    return carrierCallId === null ? cancelled : (await carrier.hangup(carrierCallId)) && cancelled;
  }

  async function hangUp(call: CallRow): Promise<void> {
    let fault: unknown = null;
    for (const pauseMs of HANG_UP_PAUSES_MS) {
      if (pauseMs > 0) await pause(clock, pauseMs);
      try {
        if (await hangUpOnce(call)) return;
      } catch (error) {
        fault = error;
      }
    }
    log.warn(
      { callUuid: call.callUuid, carrier: call.carrier, err: fault },
      'the carrier could not be told to hang up',
    );
  }

  async function prepare(call: CallRow): Promise<void> {
    try {
      await media.prepare(call);
    } catch (error) {
      log.warn({ callUuid: call.callUuid, err: error }, 'the greeting could not be rendered ahead');
    }
  }

  return {
    hangUpOnce,
    perform(call, effects) {
      for (const effect of effects) {
        if (effect === 'hang_up') void hangUp(call);
        else if (effect === 'stop_media') media.stop(call);
        else void prepare(call);
      }
    },
  };
}
