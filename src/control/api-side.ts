/** The HTTP API with all that its routes ask for. Made by `control.ts`. */
import { statfs } from 'node:fs/promises';
import { systemResolver } from '../../media/net/name-lookup.ts';
import { registerCarrierRoutes } from '../api/carriers/carrier-routes.ts';
import { createCursorCodec } from '../api/cursor.ts';
import type { ReadinessCheck } from '../api/health-routes.ts';
import { createApiServer } from '../api/server.ts';
import { builtEntry } from '../config/built-entry.ts';
import { examine } from '../doctor/doctor.ts';
import { endCall, hangupReason } from '../lifecycle/end-call.ts';
import type { SteerCall } from '../lifecycle/operator-control.ts';
import { createStreamTokens } from '../lifecycle/stream-token.ts';
import type { UnwrittenTalk } from '../media-link/unwritten-talk.ts';
import type { Monitors } from '../monitor/monitors.ts';
import type { NodeName } from '../nodes/media-runs.ts';
import { SILENT_LIMIT_MS } from '../nodes/run-choice.ts';
import type { CallCourse } from './call-course.ts';
import type { CallWork } from './call-work.ts';
import type { Ground } from './ground.ts';
import type { MediaLink } from './media-link.ts';
import type { MediaPlaces } from './media-places.ts';
import { readServiceState } from './service-state.ts';
import type { Sound } from './sound.ts';

/** Null: the folder cannot be asked. */
async function spaceOf(folder: string): Promise<{ freeBytes: number; totalBytes: number } | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** A purge that a client asks for ends in some seconds. */
const PURGED_A_REQUEST = 200;

export function createApi(
  ground: Ground,
  parts: {
    sound: Sound;
    places: MediaPlaces;
    work: CallWork;
    course: CallCourse;
    link: MediaLink;
    monitors: Monitors;
    unwritten: UnwrittenTalk;
    steer: SteerCall;
    checks: Readonly<Record<string, ReadinessCheck>>;
    runId: string;
    node: NodeName;
  },
): ReturnType<typeof createApiServer> {
  const { config, masterKeys, addressGuard, auditSigner, limitStores, metrics, registry, shared, telling } = ground;
  const { sound, work, course, link } = parts;
  const { pool } = parts.places;
  const { bus } = telling;
  const disk = () => spaceOf(config.dataDir);
  return createApiServer({
    ...shared,
    bus,
    sounds: sound.recordings.sounds,
    eraser: sound.recordings.eraser,
    clips: sound.clips,
    limitStore: limitStores.store,
    hashing: ground.hashing,
    openId: ground.openId,
    callRefusals: ground.callRefusals,
    auditSigner,
    registry,
    toolHttp: ground.http,
    monitors: parts.monitors,
    unwritten: parts.unwritten,
    disk,
    serviceState: () =>
      readServiceState({
        database: shared.database,
        publicUrl: shared.publicUrl,
        runId: parts.runId,
        nodeName: parts.node.name,
        members: () => pool.members(),
        admission: () => course.admission.state(),
        isOverloaded: () => ground.overload.isOverloaded(),
        disk,
      }),
    examine: () =>
      examine({
        environment: { ...process.env, PARLEY_DATA_DIR: config.dataDir },
        selfCheckEntry: () => builtEntry('media/self-check.js'),
      }),
    cursors: createCursorCodec(masterKeys),
    placeCall: course.place,
    answered: metrics.requestAnswered,
    controlCall: parts.steer,
    hangUp: async (callUuid, by) =>
      (await endCall(course.transitions, callUuid, hangupReason(by), by)) === 'asked' ? 'asked' : 'over',
    issueSession: work.embed.issueSession,
    compliance: course.clearance,
    purge: ({ workspaceId }) => sound.purge.run({ workspaceId, mostCalls: PURGED_A_REQUEST }),
    importReading: work.importReading,
    importQueued: () => work.imports.nudge(),
    exportQueued: () => work.exports.nudge(),
    admission: course.admission,
    webhookDispatcher: telling.webhookDispatcher,
    webhookAddress: { guard: addressGuard, resolveName: systemResolver },
    modelAddress: { guard: work.modelGuard, resolveName: systemResolver },
    modelHttp: work.modelHttp,
    instance: parts.runId,
    node: parts.node.name,
    checks: parts.checks,
    registerCarrierRoutes: (scope) =>
      registerCarrierRoutes(scope, {
        ...shared,
        transitions: course.transitions,
        lineCarriers: course.lineCarriers,
        dialledCalls: course.dialledCalls,
        registry,
        streamTokens: createStreamTokens(masterKeys),
        places: parts.places.landing,
        media: {
          lastWord: link.lastWord,
          ready: () =>
            pool.members().filter((member) => member.connected && !member.draining).length +
            link.runs.others().filter((run) => !run.isDraining && run.silentMs <= SILENT_LIMIT_MS).length,
        },
      }),
  });
}
