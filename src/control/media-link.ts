/**
 * Control's end of the link on which media processes claim calls and tell of them. Made by `control.ts`, after all that
 * it hands their words to.
 */
import { createClaimStream } from '../media-link/claim.ts';
import { Gate } from '../media-link/gate.ts';
import { orphanOthers, releaseLeases, renewLeases } from '../media-link/leases.ts';
import { createLinkServer } from '../media-link/link-server.ts';
import { createMediaMessages } from '../media-link/media-messages.ts';
import type { MediaReports } from '../metrics/media-reports.ts';
import type { Monitors } from '../monitor/monitors.ts';
import { dispositionOfRecording } from '../recordings/recording-keys.ts';
import type { CallCourse } from './call-course.ts';
import type { CallWork } from './call-work.ts';
import type { Ground } from './ground.ts';
import type { MediaPlaces } from './media-places.ts';
import type { Sound } from './sound.ts';

/** Transactions of media messages at once; the rest of the connections is for requests, callbacks and timers. */
const MEDIA_TRANSACTIONS = 6;

export type MediaLink = ReturnType<typeof createMediaLink>;

export function createMediaLink(
  { metrics, shared, telling }: Ground,
  parts: {
    sound: Sound;
    places: MediaPlaces;
    work: CallWork;
    course: CallCourse;
    reports: MediaReports;
    monitors: Monitors;
    runId: string;
  },
) {
  const { database, clock, log, sealer } = shared;
  const { sound, work, course } = parts;
  const { pool, withStream } = parts.places;
  const orphansDue = (): void => course.reaper.nudge(new Date(clock.epochMs()));
  const messages = createMediaMessages({
    ...shared,
    ...telling,
    transitions: course.transitions,
    tools: work.tools,
    recordings: { node: sound.node, nudge: sound.uploader.nudge, offer: sound.uploader.offer },
    replied: metrics.replied,
  });
  const server = createLinkServer({
    clock,
    log,
    runId: parts.runId,
    gate: new Gate(MEDIA_TRANSACTIONS),
    pool,
    messages,
    isFollowed: telling.bus.isFollowed,
    claimStream: createClaimStream({
      ...shared,
      ...withStream,
      bus: telling.bus,
      lineCarriers: course.lineCarriers,
      dialledCalls: course.dialledCalls,
    }),
    claimSession: work.embed.claimSession,
    recordingDisposition: (stream) => dispositionOfRecording(database, sealer, stream),
    renewLeases: (mediaId, calls, nowEpochMs) => renewLeases(database, mediaId, calls, nowEpochMs),
    releaseLeases: async (mediaId, calls) => {
      await releaseLeases(database, clock, mediaId, calls);
      orphansDue();
    },
    monitors: parts.monitors,
    metricsReported: parts.reports.reported,
    toolCancelled: work.tools.cancel,
    orphanOthers: async (mediaId, callUuids) => {
      await orphanOthers(database, clock, mediaId, callUuids);
      orphansDue();
    },
  });
  return { server, messages };
}
