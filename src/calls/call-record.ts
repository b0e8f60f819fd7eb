/** A row of `calls` as the code sees it, and how to read one. Every read by a client's id names the workspace too. */
import type { CallStatus, EndedReason, Fault, HangupBy } from '../../media/contract/call-outcome.ts';
import type { StoredCheckpoint } from '../../media/contract/checkpoint.ts';
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import type { CallWarning } from './call-warnings.ts';
import type { Findings } from './findings.ts';

/** In `warnings`: nothing was recorded, or it was lost. */
export const RECORDING_FAILED = 'recording_failed';
/** In `warnings`: a stream's sound is lost, and the recording has silence in its place. */
export const RECORDING_INCOMPLETE = 'recording_incomplete';

export type PartStatus = 'none' | 'pending' | 'ready' | 'failed' | 'deleted';

/** What allowed the dial. */
export interface CallCompliance {
  permitId: string;
  /** `09:00-20:00 recipient`; null: the workspace has no calling window. */
  window: string | null;
}

/** What a client may know of a sound file; where it lies is not among it. */
export type SoundFacts = Omit<RecordingFacts, 'path'>;

/** `startMs`: its place in the recording of the whole call; absent until that is ready. */
export type StreamRecording = SoundFacts & { epoch: number; startMs?: number };

/** `provider`: the engine at fault, where it is one of a provider. */
export interface CallError {
  code: string;
  message: string;
  provider?: string;
}

export interface CallRecord {
  callUuid: string;
  workspaceId: string;
  /** The workspace's slug, joined in. */
  enterprise: string;
  agentId: string;
  agentVersion: number;
  /** Null for a web session. */
  lineId: string | null;
  /** The lead that was called; it may be gone by now. */
  leadId: string | null;
  channel: 'phone' | 'web';
  direction: 'outbound' | 'inbound';
  toNumber: string;
  fromNumber: string;
  name: string;
  metadata: Record<string, unknown>;
  idempotencyKey: string | null;
  requestId: string;

  status: CallStatus;
  endedReason: EndedReason | null;
  hangupBy: HangupBy | null;
  fault: Fault | null;
  sipCode: number | null;
  /** What was said of the fault; `failureOf` has the whole of it. */
  error: CallError | null;
  submission: 'accepted' | 'refused' | 'unknown' | null;
  carrier: string;
  carrierRequestId: string | null;
  carrierCallId: string | null;

  /** The run in which it is to land, where that was chosen. */
  assignedRun: string | null;
  /** The run of the media process that has it, or had it last. */
  ownerRun: string | null;
  /** That process's name on its node, for people. */
  ownerMediaId: string | null;
  epoch: number;
  /** Since then nobody has it; null: its run has, or nobody ever had. */
  orphanedAt: Date | null;
  checkpoint: StoredCheckpoint | null;
  mediaStoppedAt: Date | null;
  carrierEndedAt: Date | null;

  createdAt: Date;
  dialedAt: Date | null;
  ringingAt: Date | null;
  answeredAt: Date | null;
  endedAt: Date | null;
  deadlineAt: Date | null;

  answeredBy: 'human' | 'machine' | 'ivr' | 'unknown' | null;
  recordingStatus: PartStatus;
  transcriptStatus: PartStatus;
  analysisStatus: PartStatus;
  /** Of the whole call, once it is ready. */
  recording: SoundFacts | null;
  /** One for each stream that the call had and that could be recorded, by epoch. */
  recordings: StreamRecording[];
  latency: Record<string, unknown> | null;
  /** Times that the agent paused for what was no interruption; null where nobody counted. */
  falseBargeIns: number | null;
  /** Null until there is one; `analysisStatus` says why. */
  analysis: Findings | null;
  warnings: CallWarning[];
  /** Null for calls that nobody dialled. */
  compliance: CallCompliance | null;
}
