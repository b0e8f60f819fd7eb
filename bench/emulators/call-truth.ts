/**
 * What really happened in one emulated call, by the far end's own account: what a gateway's records are compared with.
 * Filled by the emulated call and its media client; given out as JSON. Wall-clock instants are derived from one
 * monotonic clock, so differences between them are exact; two processes of one machine share them to within a
 * millisecond.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { StereoTimeline } from './stereo-timeline.ts';

const MAX_FAULTS_KEPT = 50;

export interface ClearTruth {
  receivedAtEpochMs: number;
  /** When the last agent sample before this clear was played; null when none ever was. */
  lastAgentSampleAtEpochMs: number | null;
  /** Agent audio that was queued and never played. */
  droppedMs: number;
  droppedCheckpoints: number;
  /** Of the whole call, until then. */
  agentPlayedMs: number;
  /** When the callee's speech that was going on (or had last been) began. */
  calleeSpeechStartAtEpochMs: number | null;
}

export interface SaidTruth {
  text: string;
  interrupting: boolean;
  startAtEpochMs: number;
  endAtEpochMs: number | null;
  /** Place on the recording's time line. */
  startMs: number;
}

export interface CallbackTruth {
  kind: string;
  event: string;
  sentAtEpochMs: number;
  httpStatus: number | null;
  error: string | null;
}

/** How it ended, in the carrier's own words. */
interface HangupTruth {
  code: number;
  name: string;
  source: string;
}

export class CallTruth {
  readonly timeline: StereoTimeline | null;
  placedAtEpochMs = 0;
  ringingAtEpochMs: number | null = null;
  answeredAtEpochMs: number | null = null;
  streamOpenAtEpochMs: number | null = null;
  /** First sample of the agent's that was played, audible or not. */
  firstAgentSampleAtEpochMs: number | null = null;
  /** First that a person could hear. */
  firstAgentSoundAtEpochMs: number | null = null;
  lastAgentSampleAtEpochMs: number | null = null;
  /** Whenever the agent's sound began after a frame or more without, and how much of it was played before. */
  readonly agentBegan: { atEpochMs: number; playedMs: number }[] = [];
  hungUpAtEpochMs: number | null = null;
  hangup: HangupTruth | null = null;
  readonly clears: ClearTruth[] = [];
  readonly said: SaidTruth[] = [];
  readonly heard: { text: string; understood: boolean; atEpochMs: number }[] = [];
  readonly callbacks: CallbackTruth[] = [];
  readonly streams: { openedAtEpochMs: number; closedAtEpochMs: number | null; closeCode: number | null }[] = [];
  /** HTTP statuses (or error codes) of upgrades that were refused. */
  readonly refusedUpgrades: string[] = [];
  /** What the gateway sent against the protocol. */
  readonly protocolFaults: string[] = [];
  checkpointsPlayed = 0;
  checkpointsDropped = 0;
  agentMessages = 0;
  agentPlayedMs = 0;
  framesSent = 0;
  /** How late the emulator itself ran: a run with a great one says nothing about milliseconds. */
  maxFrameLatenessMs = 0;
  digits = '';
  readonly #clock: Clock;
  readonly #epochAtZeroMs: number;

  constructor(clock: Clock, keepAudio: boolean) {
    this.#clock = clock;
    this.#epochAtZeroMs = clock.epochMs() - clock.nowMs();
    this.timeline = keepAudio ? new StereoTimeline() : null;
  }

  nowEpochMs(): number {
    return this.epochOf(this.#clock.nowMs());
  }

  /** Wall clock of a monotonic instant, microseconds kept. */
  epochOf(atMs: number): number {
    return Math.round((this.#epochAtZeroMs + atMs) * 1000) / 1000;
  }

  protocolFault(what: string): void {
    if (this.protocolFaults.length < MAX_FAULTS_KEPT) this.protocolFaults.push(what);
  }

  toJson(): Record<string, unknown> {
    return {
      placedAtEpochMs: this.placedAtEpochMs,
      ringingAtEpochMs: this.ringingAtEpochMs,
      answeredAtEpochMs: this.answeredAtEpochMs,
      streamOpenAtEpochMs: this.streamOpenAtEpochMs,
      firstAgentSampleAtEpochMs: this.firstAgentSampleAtEpochMs,
      firstAgentSoundAtEpochMs: this.firstAgentSoundAtEpochMs,
      lastAgentSampleAtEpochMs: this.lastAgentSampleAtEpochMs,
      agentBegan: this.agentBegan,
      hungUpAtEpochMs: this.hungUpAtEpochMs,
      hangup: this.hangup,
      clears: this.clears,
      said: this.said,
      heard: this.heard,
      callbacks: this.callbacks,
      streams: this.streams,
      refusedUpgrades: this.refusedUpgrades,
      protocolFaults: this.protocolFaults,
      checkpointsPlayed: this.checkpointsPlayed,
      checkpointsDropped: this.checkpointsDropped,
      agentMessages: this.agentMessages,
      agentPlayedMs: this.agentPlayedMs,
      framesSent: this.framesSent,
      maxFrameLatenessMs: this.maxFrameLatenessMs,
      digits: this.digits,
      recordingMs: this.timeline?.durationMs ?? null,
    };
  }
}
