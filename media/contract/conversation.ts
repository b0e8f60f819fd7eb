/**
 * What a conversation leaves behind, and what can be seen of it while it runs. Times are ms
 * since the media stream began.
 */

import type { ModelUsage, ProviderFault } from './model.ts';
import type { ToolFailure } from './tools.ts';

/** What stands in a transcript for words that were not understood. */
export const UNCLEAR_TEXT = '[unclear]';

/**
 * What the recogniser would have taken speech for, had it had to be something: for people who look for what was said.
 * No model, tool or script is ever given it.
 */
export interface UnclearSpeech {
  guess: string | null;
  /** 0 to 1. */
  confidence: number | null;
}

export interface Turn {
  /** `t1`, `t2`, … in the order in which they began. */
  turnId: string;
  role: 'agent' | 'user';
  startMs: number;
  endMs: number;
  /** What the agent meant to say, or what the recogniser heard of the caller. */
  text: string;
  /** Only what was played (agent), or the same as `text` (caller). */
  heardText: string;
  interrupted: boolean;
  /** A person at the console said it in the agent's place. `text` is what was recognised of it. */
  by?: 'person';
  /** `backchannel`: the caller murmured assent and the agent went on. `unclear`: speech that fitted no phrase. */
  kind?: 'speech' | 'backchannel' | 'unclear';
  /** There where nothing was understood; `text` is `UNCLEAR_TEXT` then. */
  unclear?: UnclearSpeech;
  /** The reply's intent that this caller turn chose. */
  intent?: string;
  stepId?: string;
}

/** An engine of a reply, by its name in the registry. */
export interface ServedBy {
  provider: string;
  /** Of the workspace; null: a local engine, which needs none. */
  connection: string | null;
  /** As the agent names it; null: it names none. */
  model: string | null;
}

/**
 * One reply step by step, where it came by: whole ms from the end of the caller's last sound, to the millisecond of the
 * process and not of the frame. A step that thought ahead may come before the turn was decided. Null: there was no such
 * step (what is said is a clip, or was kept; the agent asks no model; the words were typed).
 */
export interface ReplyStages {
  /** The end of the caller's last sound: audio time of the transcript. */
  speechEndAtMs: number;
  decidedMs: number;
  finalWordsMs: number;
  /** The model was asked for the answer that is said. */
  askedMs: number | null;
  firstTokenMs: number | null;
  /** First words handed to the voice. */
  firstClauseMs: number | null;
  /** First sound from the voice. */
  firstAudioMs: number | null;
  /** First frame in the ring. */
  ringMs: number;
  /** First frame given to the leg. */
  firstFrameMs: number;
  listen: ServedBy | null;
  think: ServedBy | null;
  speak: ServedBy | null;
}

/** One reply's stages, ms, each counted from the end of the caller's last sound. */
export interface TurnLatency {
  turnId: string;
  /** Decision that the caller has finished. */
  eouMs: number;
  /** Final recognition result. */
  sttMs: number;
  /** First audio of the reply out of the voice engine. */
  ttsMs: number;
  /** First frame of the reply handed to the carrier. */
  agentMs: number;
  /** Absent: told by a version that had none. */
  stages?: ReplyStages;
}

/**
 * How a call went on after something was lost. `pipeline_thread`: another thread took its place. `…_hedge`: nothing
 * came in time, and the next model or voice was asked too; `…_fallback`: it failed or broke off, and the next was
 * asked. `apology`: nobody could answer, or hear, and the call was ended with an excuse.
 */
export const RECOVERY_KINDS = [
  'pipeline_thread',
  'model_hedge',
  'model_fallback',
  'voice_hedge',
  'voice_fallback',
  'apology',
] as const;
export type RecoveryKind = (typeof RECOVERY_KINDS)[number];

/** What was said while a person had the call. */
export interface SaidMeanwhile {
  who: 'caller' | 'person';
  text: string;
}

/** Why a person has the call no more. `gone`: their line broke; `silent`: not even silence came any more. */
export type TakeoverEnd = 'asked' | 'gone' | 'silent';

/** Shown as it happens (server-sent events, the demo); stored with the call. */
export type ConversationEvent =
  | { type: 'speech'; who: 'user' | 'agent'; phase: 'start' | 'end'; atMs: number; turnId?: string }
  | { type: 'partial'; text: string; atMs: number; turnId?: string }
  /** Words of the agent as they begin to be played; of web sessions only, and only for the page. */
  | { type: 'agent_text'; turnId: string; delta: string; atMs: number }
  | { type: 'first_audio'; atMs: number; answerToFirstWordMs: number }
  | { type: 'barge_in'; phase: 'pause' | 'commit' | 'resume'; atMs: number; heardText?: string }
  | { type: 'turn'; turn: Turn }
  | { type: 'latency'; latency: TurnLatency }
  /** A question to a language model is over, whether or not its answer was wanted in the end. */
  | { type: 'model_request'; request: ModelRequestFacts; atMs: number }
  | { type: 'step'; stepId: string; atMs: number }
  | { type: 'tool'; phase: 'start'; toolCallId: string; name: string; atMs: number }
  | ({ type: 'tool'; phase: 'end'; toolCallId: string; name: string; atMs: number } & ToolUseFacts)
  /** A person speaks in the agent's place, or does so no more. */
  | { type: 'takeover'; phase: 'began'; atMs: number }
  | { type: 'takeover'; phase: 'ended'; why: TakeoverEnd; atMs: number }
  /** `gapMs`: what it took, or how long whoever failed was waited for. `message`: for people. */
  | { type: 'recovery'; what: RecoveryKind; gapMs: number; message?: string; atMs: number }
  /** `key`: what it is about, such as a placeholder, met `count` times just now. */
  | { type: 'warning'; code: string; message: string; key?: string; count?: number; atMs: number };

/** One question to a language model. Neither what was asked nor what was answered. */
export interface ModelRequestFacts {
  served: ServedBy;
  /** Ms of the transcript. */
  askedAtMs: number;
  /** From there to the first token; null: none came. */
  firstTokenMs: number | null;
  /** To its end. */
  ms: number;
  /** `taken_back`: another answered first, the caller went on, or the call was over. */
  outcome: 'ok' | 'failed' | 'taken_back';
  fault: ProviderFault | null;
  /** Null: the provider did not say. */
  usage: ModelUsage | null;
}

/** How a use of a tool ended. Neither what was asked nor what was answered. */
export interface ToolUseFacts {
  outcome: 'ok' | 'failed' | 'cancelled';
  code: ToolFailure | null;
  /** Of HTTP, where there was an answer. */
  status: number | null;
  ms: number;
}

/** A stretch of a recording's channel with sound in it. */
export interface SoundRun {
  startMs: number;
  endMs: number;
  /** Of 15 ms. */
  peakDbfs: number;
}

/** Where a recording has sound: what latencies of the waveform are read from. Times are ms of the recording. */
export interface SoundMap {
  durationMs: number;
  /** Typical level of the line when nobody speaks. */
  callerFloorDbfs: number;
  caller: SoundRun[];
  agent: SoundRun[];
}

export interface RecordingFacts {
  /** Absolute path of the finished file. */
  path: string;
  format: 'ogg_opus';
  channels: 2;
  rateHz: number;
  durationMs: number;
  sizeBytes: number;
  sha256: string;
  /** Told once, with the recording that was just encoded; not part of what is kept of it. */
  sound?: SoundMap;
}
