/**
 * I/O thread ⇄ pipeline and recorder threads, by postMessage: rare messages only. Audio travels
 * in the rings of `media/rings`.
 */
import type { CallCommand } from './call-command.ts';
import type { EndedReason } from './call-outcome.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { CallClips } from './clip.ts';
import type { ConversationEvent, RecordingFacts } from './conversation.ts';
import type { EnginePorts } from './engine-kinds.ts';
import type { ConnectionGrant } from './grant.ts';
import type { CallSetup, RecordingDisposition } from './link-messages.ts';
import type { ControlOutcome } from './operator-control.ts';
import type { ToolAsk } from './tools.ts';
import type { UsageLine } from './usage.ts';

/** `Port` is a `MessagePort` of `node:worker_threads`, which this leaf may not import. */
export type ToPipeline<Port = unknown> =
  /** To the engine threads that there are: before the first call, and anew when one of them died. */
  | { type: 'engines'; ports: EnginePorts<Port> }
  /**
   * `call` is the call's shared block (`media/rings/call-block.ts`), `seat` its place on the thread's board
   * (`media/rings/feed-board.ts`).
   */
  | { type: 'call.start'; setup: CallSetup; call: SharedArrayBuffer; seat: number }
  /** One that is `control` is answered by `call.controlled`. */
  | { type: 'call.command'; callUuid: string; command: CallCommand }
  /** The leg is over. The pipeline closes the open turn, sends what is left and answers `call.closed`. */
  | { type: 'call.stop'; callUuid: string }
  /** What was asked for by `scoring.attach` is not to be had. */
  | { type: 'scoring.failed'; why: string }
  /** Render a greeting into the cache. */
  | {
      type: 'prepare';
      callUuid: string;
      agent: CallSetup['agent'];
      clips?: CallClips;
      placeholders: Record<string, string>;
      format: CallSetup['format'];
      granted?: readonly string[];
    };

export interface UtteranceBegun {
  turnId: string;
  text: string;
  stepId: string | null;
  /** Ms, of the transcript, and of this stream. */
  startMs: number;
  startStreamMs: number;
}

export type FromPipeline =
  /**
   * `osThreadId`: the operating system's, where it can be known; says whether a silent thread
   * works or waits for a processor.
   */
  | { type: 'ready'; osThreadId?: number | null }
  | { type: 'call.event'; callUuid: string; event: ConversationEvent }
  /**
   * An utterance begins to be heard. Should the thread die in it, this and the block's `heardChars` are all that is
   * left of its turn.
   */
  | { type: 'call.speaking'; callUuid: string; utterance: UtteranceBegun }
  /** It has more text than was told; told before any of it is heard. */
  | { type: 'call.speaking.more'; callUuid: string; turnId: string; more: string }
  | { type: 'call.checkpoint'; callUuid: string; checkpoint: Checkpoint }
  | { type: 'call.end'; callUuid: string; reason: EndedReason; disposition: string | null; error: string | null }
  | { type: 'call.closed'; callUuid: string }
  | { type: 'call.controlled'; callUuid: string; controlId: string; outcome: ControlOutcome }
  /** Answered by the command `tool.answer`. `atPage`: by the page of a web session, within `timeoutMs`. */
  | { type: 'call.tool'; callUuid: string; ask: ToolAsk; atPage: boolean; timeoutMs: number }
  | { type: 'call.tool.cancel'; callUuid: string; toolCallId: string }
  /**
   * Have the windows in this memory scored (`media/engines/local/voice-activity-windows.ts`); sent once, when the first
   * call wants it.
   */
  | { type: 'scoring.attach'; shape: unknown; memory: SharedArrayBuffer }
  /** Of the time since the last: the share in which the thread worked, and by how much its latest tick began late. */
  | { type: 'heartbeat'; calls: number; busyRatio?: number; lateMs?: number };

/** I/O thread to each provider thread; the only way of credentials. A new thread is told all grants that hold. */
export type ToProviderThread<Port = unknown> =
  | { type: 'client'; port: Port }
  /** In place of what the call was granted before. */
  | { type: 'grant'; callUuid: string; grants: readonly ConnectionGrant[] }
  /** The call is over: what uses its grants ends. */
  | { type: 'revoke'; callUuid: string };

export type FromProviderThread =
  | { type: 'ready'; osThreadId: number | null }
  /** Each 100 ms: it lives. */
  | { type: 'load'; busyRatio: number; lateMs: number }
  | { type: 'usage'; callUuid: string; lines: readonly UsageLine[] };

export type { RecordingDisposition };

/** What comes through a record ring, where that is not what the recording is kept in. */
export interface RecordedDirections {
  received: CallSetup['format'];
  played: CallSetup['format'];
}

/**
 * A call has a recording for each of its streams; the claim's `epoch` tells them apart and in which order they were.
 */
export type ToRecorder =
  /**
   * `format` is the recording's: mu-law or PCM. `ring` holds frames of both directions (`media/rings/record-ring.ts`).
   */
  | {
      type: 'open';
      callUuid: string;
      epoch: number;
      format: CallSetup['format'];
      directions?: RecordedDirections;
      ring: SharedArrayBuffer;
      /** The recording's data key, 64 hexadecimal digits; without one nothing is written. */
      keyHex: string;
    }
  /** The stream lasted `durationMs`; both channels are padded to it. */
  | { type: 'close'; callUuid: string; epoch: number; durationMs: number }
  /** Answers `key.wanted`. */
  | { type: 'key'; callUuid: string; epoch: number; disposition: RecordingDisposition };

export type FromRecorder =
  | { type: 'ready' }
  /** A left-over recording was found, and only control knows its key. */
  | { type: 'key.wanted'; callUuid: string; epoch: number }
  /** Also of a recording that an earlier run of the process left behind, which this one never opened. */
  | { type: 'finished'; callUuid: string; epoch: number; recording: RecordingFacts | null; error: string | null };
