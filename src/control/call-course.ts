/**
 * The way of a call through control: placed, changed, timed, ended. Here stands what follows from an end. Made by
 * `control.ts`, after what has to hear of ends.
 */
import { analyseAtEnd } from '../analysis/analyse-at-end.ts';
import type { CallRow } from '../calls/call-row.ts';
import { createDialledCalls } from '../lifecycle/dialled-calls.ts';
import { createLeadFollower } from '../lifecycle/lead-follower.ts';
import { createLineCarriers } from '../lifecycle/line-carriers.ts';
import { createReaper } from '../lifecycle/reaper.ts';
import { createSideEffects } from '../lifecycle/side-effects.ts';
import { createTransitions } from '../lifecycle/transition.ts';
import { createCallLimits } from '../limits/call-limits.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import type { UnwrittenTalk } from '../media-link/unwritten-talk.ts';
import { timePlacements } from '../metrics/time-placement.ts';
import { createCallAdmission } from '../placement/call-admission.ts';
import { createDialClearance } from '../placement/dial-clearance.ts';
import { placeCall } from '../placement/placement.ts';
import type { CallWork } from './call-work.ts';
import type { Ground } from './ground.ts';
import type { MediaPlaces } from './media-places.ts';

/**
 * Under way at once: a carrier that hangs keeps a placement for 5 s, and one workspace may not keep more than half of
 * them.
 */
const PLACEMENTS = 256;
const DATABASE_PLACEMENTS = 8;
const PLACEMENTS_WAITING = 1_024;
/** A client that gave up is not worth a call. */
const PLACEMENT_WAIT_MS = 2_000;
const LIMIT_SETTINGS_KEPT_MS = 1_000;

export type CallCourse = ReturnType<typeof createCallCourse>;

export function createCallCourse(
  ground: Ground,
  parts: Pick<UnwrittenTalk, 'allWritten'> & { places: MediaPlaces; work: CallWork; isDraining(): boolean },
) {
  const { config, clock, masterKeys, limitStores, overload, metrics, registry, shared, telling } = ground;
  const { database, log, sealer } = shared;
  const { callTimerScale: timerScale } = config;
  const { pool, room } = parts.places;
  const { analysis, embed, tools } = parts.work;

  const ended = (call: CallRow): void => {
    metrics.callEnded(call.status, call.endedReason ?? 'none');
    limitStores.callEnded(call);
    room.gone(call.callUuid);
    analysis.callEnded(call);
    embed.callEnded(call);
    tools.callEnded(call.callUuid);
    ground.traces?.callEnded(call.callUuid);
  };
  const lineCarriers = createLineCarriers({ database, registry, clock, open: sealer.open });
  const dialledCalls = createDialledCalls(database);
  const effects = createSideEffects({ lineCarriers, media: pool, clock, log });
  const transitions = createTransitions({
    ...shared,
    ...telling,
    timerScale,
    follow: createLeadFollower({ clock }),
    analyse: (tx, seen) => analyseAtEnd(shared, tx, seen),
    chooseRun: parts.places.landing.choose,
    perform: effects.perform,
    ended,
    deadlineMoved: (callUuid, deadlineAt) => reaper.moved(callUuid, deadlineAt),
  });
  const reaper = createReaper({
    ...shared,
    timerScale,
    transitions,
    lineCarriers,
    effects,
    allWritten: parts.allWritten,
  });

  const admission = createCallAdmission({
    isDraining: parts.isDraining,
    roomElsewhere: parts.places.landing.roomElsewhere,
    hasRoom: pool.hasRoom,
    isCounted: config.admission === 'counted',
    isOverloaded: overload.isOverloaded,
    isMeasuredRoom: () => room.has('api'),
  });
  const clearance = createDialClearance({ database, clock, masterKeys });
  const turns = { clock, mostWaiting: PLACEMENTS_WAITING, longestWaitMs: PLACEMENT_WAIT_MS };
  const placement = {
    ...shared,
    clearance,
    transitions,
    registry,
    dialledCalls,
    lineCarriers,
    admission,
    room,
    webhookDispatcher: telling.webhookDispatcher,
    callLimits: createCallLimits({ ...limitStores, database, clock, settingsKeptMs: LIMIT_SETTINGS_KEPT_MS }),
    carrierTurns: createFairQueue({ ...turns, slots: PLACEMENTS, slotsPerKey: PLACEMENTS / 2 }),
    databaseTurns: createFairQueue({ ...turns, slots: DATABASE_PLACEMENTS, slotsPerKey: DATABASE_PLACEMENTS - 2 }),
  };
  const { place, underWay: placing } = timePlacements(metrics, clock, placeCall.bind(null, placement));
  return { lineCarriers, dialledCalls, transitions, reaper, admission, clearance, place, placing };
}
