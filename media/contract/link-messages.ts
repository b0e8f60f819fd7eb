/**
 * Control ⇄ media, over a local stream socket, JSON lines. `link.ts` numbers and acknowledges them, so that either side
 * may restart alone. Control messages and checkpoints only; never audio. Every message about a call carries the lease's
 * epoch: control refuses what an older epoch says.
 */
import type { AgentDefinition } from './agent-definition.ts';
import type { LegFormat } from './audio-format.ts';
import type { EndedReason } from './call-outcome.ts';
import type { StoredCheckpoint } from './checkpoint.ts';
import type { CallClips } from './clip.ts';
import type { ConversationEvent, RecordingFacts, TurnLatency } from './conversation.ts';
import type { ConnectionGrant } from './grant.ts';
import type { LiveErrorCode, LiveUpgradeRequest, NegotiatedAudio, WebSetup } from './live-session.ts';
import type { MetricFamily } from './metrics.ts';
import type { MonitorAction, MonitorAnswer, MonitorEnd, MonitorReport, MonitorResult } from './monitor.ts';
import type { ControlAction, ControlOutcome } from './operator-control.ts';
import type { ToolAnswer, ToolAsk } from './tools.ts';
import type { UsageLine } from './usage.ts';

/** So few calls cannot be what makes a process late, it would be late without them: they are always taken. */
export const ALWAYS_CALLS = 4;

/** Everything that a call needs from its start, so that it can go on while control or the database is away. */
export interface CallSetup {
  callUuid: string;
  epoch: number;
  enterprise: string;
  agentId: string;
  agentVersion: number;
  agent: AgentDefinition;
  /** Those that the agent names, where they are to be had. */
  clips?: CallClips;
  /** From control to the I/O thread alone, which puts `granted` in their place. */
  grants?: readonly ConnectionGrant[];
  /** Names of the connections that the call may use. */
  granted?: readonly string[];
  /** Values for placeholders: `customer_name`, metadata, agent defaults, `sys.*`; already strings. */
  placeholders: Record<string, string>;
  carrier: string;
  /** The carrier's own id, which its `start` message must repeat. */
  carrierCallId: string | null;
  /** Wall clock of the answer, for answer-to-first-word. */
  answeredAtEpochMs: number;
  maxDurationMs: number;
  record: boolean;
  /** The data key of this stream's recording, 64 hexadecimal digits. Never logged, never on a disk. */
  recordingKeyHex?: string;
  /** As it was stored, maybe by an earlier version: `readCheckpoint`. */
  checkpoint: StoredCheckpoint | null;
  /** What the leg hears. */
  format: LegFormat;
  /** What the leg is spoken to in, where that is something else. */
  outputFormat?: LegFormat;
  /** A web session. */
  web?: WebSetup;
}

/** A stream's upgrade request, handed to control, which knows the tokens and the carrier's secrets. */
export interface ClaimRequest {
  carrier: string;
  token: string;
  /** Path and query as received. */
  url: string;
  host: string;
  /** Lower-case names; only those that a signature check needs. */
  headers: Record<string, string>;
  /** With `carrier` "web": a socket at `/ws/live`; `token` is a session's or a resume token. */
  live?: LiveUpgradeRequest;
}

/**
 * What became of a recording whose key media asks for. `settled`: stored already, or erased; what is left of it here is
 * to go. `unknown`: keep it, and say why.
 */
export type RecordingDisposition =
  | { kind: 'open'; keyHex: string }
  | { kind: 'settled' }
  | { kind: 'unknown'; why: string };

export type ClaimAnswer =
  | { ok: true; setup: CallSetup }
  | { ok: false; httpStatus: 401 | 403 | 404 | 409 | 410 | 429 | 503; why: string; code?: LiveErrorCode };

export type ToMedia =
  | { type: 'claim.answer'; requestId: number; answer: ClaimAnswer }
  /** The phone rings: render the greeting now. */
  | {
      type: 'prepare';
      callUuid: string;
      agent: AgentDefinition;
      clips?: CallClips;
      placeholders: Record<string, string>;
      format: LegFormat;
      /**
       * As a call's setup has them; they hold until the call begins here, or for the longest time that a phone rings.
       */
      grants?: readonly ConnectionGrant[];
    }
  /**
   * End the call's media: the carrier said it is over, or the API asked. `reason` null: as the carrier reports it.
   * `superseded`: another process has it.
   */
  | { type: 'stop'; callUuid: string; reason: EndedReason | null; superseded?: boolean }
  /**
   * The commands of a call (`call-command.ts`) that come from control. Media of an earlier
   * version, which drains, has these too.
   */
  /**
   * Answered by `controlled` with the same id. Never repeated: an action that may have happened is not asked for again.
   */
  | { type: 'control'; controlId: string; callUuid: string; action: ControlAction }
  /** To a `tool.call`; may come twice, or too late. */
  | { type: 'tool.answer'; callUuid: string; toolCallId: string; answer: ToolAnswer }
  /** Answers `recording.key`. */
  | { type: 'recording.key'; stream: { callUuid: string; epoch: number }; fate: RecordingDisposition }
  /** Answers `monitor.claim`. */
  | { type: 'monitor.answer'; requestId: number; answer: MonitorAnswer }
  /** This run was given up, and its calls go on elsewhere: it lets go of them, and greets as another. */
  | { type: 'fenced'; runId: string }
  /** Answers `monitor.ask`. */
  | { type: 'monitor.asked'; requestId: number; result: MonitorResult }
  /** A listener is to be shut out. */
  | { type: 'monitor.end'; monitorId: string; why: MonitorEnd }
  | { type: 'drain' };

/** Who or what ended a call's stream. */
export type StreamEnd = 'socket_closed' | 'stopped' | 'bad_stream' | 'no_media' | 'failed';

export type ToControl =
  | {
      type: 'hello';
      /**
       * By which its lease and its calls are known. It greets again with another one when it was `fenced`. Absent:
       * media of an earlier version.
       */
      runId?: string;
      mediaId: string;
      pid: number;
      socketServer: 'uws' | 'ws';
      capacityCalls: number;
      liveCalls: { callUuid: string; epoch: number }[];
    }
  /** Each second. */
  | {
      type: 'load';
      mediaId: string;
      activeCalls: number;
      capacityCalls: number;
      draining: boolean;
      calls: { callUuid: string; epoch: number }[];
    }
  /**
   * Four times a second: how many more calls there is room for, by what voice, recogniser and frames take; `scarce`
   * says of which least. `alwaysCalls` of them are taken however late it is, whoever asks; what media of an earlier
   * version says has none.
   */
  | {
      type: 'room';
      mediaId: string;
      moreCalls: number;
      alwaysCalls?: number;
      carriesCalls: number;
      scarce: string;
    }
  /** Every few seconds: what operators watch. */
  | { type: 'metrics'; families: MetricFamily[] }
  | { type: 'claim'; requestId: number; claim: ClaimRequest }
  | { type: 'controlled'; controlId: string; outcome: ControlOutcome }
  /** Somebody came to listen in; whose the token is, and to which call, control says. */
  | { type: 'monitor.claim'; requestId: number; token: string }
  /** A listener wants something of the call: control asks the call, and writes it down. */
  | { type: 'monitor.ask'; requestId: number; monitorId: string; action: MonitorAction }
  /** A listener is gone. */
  | { type: 'monitor.closed'; report: MonitorReport }
  /** An earlier run left the recording of this stream unfinished. */
  | { type: 'recording.key'; stream: { callUuid: string; epoch: number } }
  /** `startedAtEpochMs`: where 0 of the stream's time line is; what media of an earlier version says has none. */
  | {
      type: 'media.started';
      callUuid: string;
      epoch: number;
      carrierCallId: string;
      streamId: string;
      startedAtEpochMs?: number;
    }
  /** Of a web session, when its audio is negotiated and at each resume: what goes into its rows. Null: as before. */
  | {
      type: 'web.session';
      callUuid: string;
      epoch: number;
      visitor: { name: string; metadata: Record<string, unknown> } | null;
      audio: NegotiatedAudio;
      resumeNumber: number;
    }
  | { type: 'live'; callUuid: string; epoch: number; atEpochMs: number; event: ConversationEvent }
  /**
   * Kept as it is: only media reads it, of this version or the next (`readCheckpoint`).
   * Everybody may read its `variables`.
   */
  | { type: 'checkpoint'; callUuid: string; epoch: number; checkpoint: StoredCheckpoint }
  /** What the call used of its providers: true whoever has the call by now, and told of a call that is over too. */
  | { type: 'usage'; callUuid: string; lines: readonly UsageLine[] }
  /** Make the tool's request, once, however often this is said. Said again when control is another run than before. */
  | { type: 'tool.call'; callUuid: string; epoch: number; ask: ToolAsk }
  /** Nobody waits for it any more. */
  | { type: 'tool.cancel'; callUuid: string; epoch: number; toolCallId: string }
  /** The agent has said its last word, and it was played: control hangs up at the carrier. */
  | {
      type: 'agent.ended';
      callUuid: string;
      epoch: number;
      reason: EndedReason;
      disposition: string | null;
      error: string | null;
    }
  /**
   * The socket is gone and nothing more will come of this call but its recording. Always after the call's last turn.
   */
  /**
   * The browser's session is over for good, said before its socket is closed: a token that comes back may not open it
   * again. The pipeline's last turn and `media.stopped` follow.
   */
  | { type: 'web.ended'; callUuid: string; epoch: number; why: StreamEnd }
  | {
      type: 'media.stopped';
      callUuid: string;
      epoch: number;
      why: StreamEnd;
      durationMs: number;
      latencies: TurnLatency[];
    }
  | { type: 'recording'; callUuid: string; epoch: number; recording: RecordingFacts | null; error: string | null };
