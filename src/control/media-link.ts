/**
 * Control's end of the link on which media processes claim calls and tell of them. Made by `control.ts`, after all that
 * it hands their words to.
 */
import { readOwnCall } from '../calls/call-row.ts';
import { createLastWord } from '../lifecycle/last-word.ts';
import { redirectCallsOf } from '../lifecycle/redirect-call.ts';
import { createClaimStream } from '../media-link/claim.ts';
import { Gate } from '../media-link/gate.ts';
import { createLinkServer, type LinkServer } from '../media-link/link-server.ts';
import { createMediaMessages } from '../media-link/media-messages.ts';
import type { UnwrittenHere } from '../media-link/unwritten-talk.ts';
import type { MediaReports } from '../metrics/media-reports.ts';
import type { Monitors } from '../monitor/monitors.ts';
import { machineAnswers } from '../nodes/machine-answers.ts';
import type { NodeName } from '../nodes/media-runs.ts';
import { createRunKeeper } from '../nodes/run-keeper.ts';
import type { SharedClock } from '../nodes/shared-clock.ts';
import { dispositionOfRecording } from '../recordings/recording-keys.ts';
import { answerForNodes } from './answer-for-nodes.ts';
import type { CallCourse } from './call-course.ts';
import type { CallWork } from './call-work.ts';
import type { Ground } from './ground.ts';
import type { MediaPlaces } from './media-places.ts';
import type { Nodes } from './nodes.ts';
import type { Sound } from './sound.ts';

/** Transactions of media messages at once; the rest of the connections is for requests, callbacks and timers. */
const MEDIA_TRANSACTIONS = 6;

const DISK_IN_COMPANY =
  'another node has come, and recordings and clips of this one lie on its own disk, where no other can read them: set RECORDING_STORE=s3 and the RECORDING_S3_ settings on each node';

export type MediaLink = ReturnType<typeof createMediaLink>;

export function createMediaLink(
  { config, metrics, shared, telling }: Ground,
  parts: {
    sound: Sound;
    places: MediaPlaces;
    work: CallWork;
    course: CallCourse;
    reports: MediaReports;
    monitors: Monitors;
    runId: string;
    node: NodeName;
    nodes: Nodes;
    unwritten: UnwrittenHere;
    clock: SharedClock;
  },
) {
  const { database, clock, log, sealer } = shared;
  const { sound, work, course } = parts;
  const { pool, withStream } = parts.places;
  const messages = createMediaMessages({
    ...shared,
    ...telling,
    transitions: course.transitions,
    tools: work.tools,
    recordings: { node: sound.node, nudge: sound.uploader.nudge, offer: sound.uploader.offer },
    replied: metrics.replied,
  });
  const runs = createRunKeeper({
    ...shared,
    node: parts.node,
    answers: machineAnswers,
    fenced: (runId) => server.fenced(runId),
    overdue(runId) {
      redirectCallsOf({ ...shared, lineCarriers: course.lineCarriers }, runId).then(
        (calls) => log.warn({ runId, calls }, 'calls were taken from a media process that nobody hears'),
        (error: unknown) => log.warn({ runId, err: error }, 'calls of a silent media process stay with it'),
      );
    },
    joined() {
      parts.nodes.joined();
      if (config.recordings.kind === 'disk') log.error(DISK_IN_COMPANY);
    },
    changed: parts.nodes.lookAtRuns,
    beaten: parts.places.landing.settle,
    databaseTime: parts.clock.heard,
    orphaned: (atEpochMs) => course.reaper.nudge(new Date(atEpochMs)),
  });
  const server: LinkServer = createLinkServer({
    clock,
    log,
    runId: parts.runId,
    gate: new Gate(MEDIA_TRANSACTIONS),
    pool,
    messages,
    bus: telling.bus,
    claimStream: createClaimStream({
      ...shared,
      ...withStream,
      bus: telling.bus,
      lineCarriers: course.lineCarriers,
      dialledCalls: course.dialledCalls,
      streamBase: parts.node.streamBase,
    }),
    claimSession: work.embed.claimSession,
    recordingDisposition: (stream) => dispositionOfRecording(database, sealer, stream),
    aheadMs: parts.clock.aheadMs,
    runs,
    monitors: parts.monitors,
    metricsReported: parts.reports.reported,
    toolCancelled: work.tools.cancel,
  });
  const lastWordHere = createLastWord({ ...shared, mayStillSpeak: server.mayStillSpeak });
  answerForNodes(parts, { database, clock, server, runs, lastWordHere });

  /** Of a call whose stream is over, wherever it was carried. */
  async function lastWord(callUuid: string): Promise<void> {
    if (server.mayStillSpeak(callUuid) || runs.ownInCompany() === null) return lastWordHere(callUuid);
    const ownerRun = (await readOwnCall(database, callUuid))?.ownerRun ?? null;
    if (ownerRun !== null) await parts.nodes.remote.lastWord(ownerRun, callUuid);
  }
  return { server, messages, runs, lastWord };
}
