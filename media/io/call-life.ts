/**
 * One call's life in this process, from the claim to the last message about it: joins the leg, the pipeline's side and
 * the recorder's, and reports to control. Order of the end: the leg, then the pipeline's last turn, then
 * `media.stopped`; the recording comes when it is finished. `call-registry.ts` makes it, gives it its leg, and forgets
 * it. Each fault of the call is logged once, here.
 */
import type { Logger } from 'pino';
import type { CallCommand } from '../contract/call-command.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { Checkpoint } from '../contract/checkpoint.ts';
import type { Clock } from '../contract/clock.ts';
import type { ConversationEvent, RecordingFacts, TurnLatency } from '../contract/conversation.ts';
import type { CallSetup, ToControl } from '../contract/link-messages.ts';
import type { NegotiatedAudio } from '../contract/live-session.ts';
import { CONTROL_DONE, type ControlOutcome, controlRefused } from '../contract/operator-control.ts';
import { placeholderText } from '../contract/placeholders.ts';
import { type ToolAsk, toolFailed } from '../contract/tools.ts';
import type { CallBlock } from '../rings/call-block.ts';
import type { CarrierLegListener } from './legs/carrier/carrier-leg.ts';
import type { CallLeg, LegEnd } from './legs/core/call-leg.ts';
import type { Visitor } from './legs/web/client-messages.ts';
import type { WebLegListener } from './legs/web/web-leg.ts';
import type { MonitorDesk } from './monitor/monitor-desk.ts';
import type { PipelinePool } from './threads/pipeline-pool.ts';
import type { PlacedCall, PlacedCallListener } from './threads/pooled-call.ts';
import type { RecorderHost } from './threads/recorder-host.ts';

/** The pipeline answers `call.closed`; a thread that does not is not waited for. */
const PIPELINE_CLOSE_LIMIT_MS = 5000;
/** After the agent's last word control hangs up and the carrier closes the socket; else we do. */
const AGENT_END_LIMIT_MS = 10_000;
/** A call of four hours has fewer turns. */
const MOST_LATENCIES = 2000;
/** What a browser's codecs are decoded to for the recording, when they are not the same both ways. */
const WEB_RECORDING_FORMAT = { codec: 'pcm_s16le', rateHz: 16000 } as const;

export interface CallLifeOptions {
  setup: CallSetup;
  clock: Clock;
  pool: PipelinePool;
  recorder: RecorderHost;
  log: Logger;
  /** Those who listen in. Absent in tests that have none. */
  monitors?: Pick<MonitorDesk, 'event' | 'callOver'>;
  toControl(message: ToControl): void;
  /** Nothing more will come of it, its recording apart. */
  over(life: CallLife): void;
}

export class CallLife implements CarrierLegListener, WebLegListener, PlacedCallListener {
  #setup: CallSetup;
  readonly #options: CallLifeOptions;
  readonly #log: Logger;
  readonly #latencies: TurnLatency[] = [];
  #leg!: CallLeg;
  #placed: PlacedCall | null = null;
  #legEnd: { why: LegEnd; durationMs: number } | null = null;
  #isRecording = false;
  #isStopped = false;
  #isHandedOver = false;
  #isSuperseded = false;
  #hasAgentEnded = false;
  /** Asked of control and not answered. */
  readonly #toolAsks = new Map<string, ToolAsk>();
  #faults = 0;
  #cancelLimit: () => void = () => {};

  constructor(options: CallLifeOptions) {
    this.#options = options;
    this.#setup = options.setup;
    this.#log = options.log.child({ callUuid: options.setup.callUuid });
  }

  /** Its leg, which was made to tell this life what becomes of it. At once, before anything else. */
  joins(leg: CallLeg): void {
    this.#leg = leg;
  }

  /** A recording was opened and is not finished. */
  get isRecording(): boolean {
    return this.#isRecording;
  }

  /** As control gave it, and as a web session's client and we agreed. */
  get setup(): CallSetup {
    return this.#setup;
  }

  get leg(): CallLeg {
    return this.#leg;
  }

  /** How its leg ended; null while it is open. */
  get endedBy(): LegEnd | null {
    return this.#legEnd?.why ?? null;
  }

  /** Control, or a newer stream of the same call, ends it. */
  stop(reason: EndedReason | null = null): void {
    this.#leg.stop('stopped', undefined, '', reason);
  }

  /** Another process has the call. */
  superseded(): void {
    this.#isSuperseded = true;
    this.#leg.superseded();
  }

  /** This process is being stopped; a call that can go on elsewhere is left to whoever claims it. */
  handOver(): void {
    // One that is over already has its last word to say.
    this.#isHandedOver = this.#legEnd === null && this.#leg.canMove;
    this.#leg.handOver();
  }

  /** What anybody asks of the call. `control` is answered to control, unless the pipeline thread dies before it has. */
  command(command: CallCommand): void {
    if (command.type === 'tool.answer') this.#toolAsks.delete(command.toolCallId);
    if (command.type === 'control') this.#control(command);
    else this.#placed?.command(command);
  }

  #control(command: Extract<CallCommand, { type: 'control' }>): void {
    const { controlId, action } = command;
    if (this.#legEnd !== null || this.#placed === null) {
      this.controlled(controlId, controlRefused('not_here'));
    } else if (this.#hasAgentEnded) {
      this.controlled(controlId, controlRefused('ending'));
    } else if (action.type === 'dtmf') {
      this.controlled(controlId, this.#leg.sendDigits(action.digits) ? CONTROL_DONE : controlRefused('unsupported'));
    } else {
      this.#placed.command(command);
    }
  }

  /** Control is another run than before, and may know nothing of what it was asked. */
  controlRestarted(): void {
    const { callUuid, epoch } = this.setup;
    for (const ask of this.#toolAsks.values()) this.#options.toControl({ type: 'tool.call', callUuid, epoch, ask });
  }

  controlled(controlId: string, outcome: ControlOutcome): void {
    this.#options.toControl({ type: 'controlled', controlId, outcome });
  }

  // The leg.

  /** It ends, the others go on. */
  failed(error: unknown): void {
    this.#log.error({ err: error }, 'a fault of ours ends this call');
  }

  started(streamId: string, carrierCallId: string, block: CallBlock, recordRing: SharedArrayBuffer | null): void {
    const { callUuid, epoch, format } = this.setup;
    this.#placed = this.#options.pool.place(this.setup, block.memory, this);
    if (recordRing !== null) {
      this.#isRecording = true;
      const { outputFormat = format } = this.setup;
      const isPlain =
        format.codec !== 'opus' && format.codec === outputFormat.codec && format.rateHz === outputFormat.rateHz;
      if (isPlain) this.#options.recorder.open(this.setup, format, recordRing);
      else {
        const directions = { received: format, played: outputFormat };
        this.#options.recorder.open(this.setup, WEB_RECORDING_FORMAT, recordRing, directions);
      }
    }
    const startedAtEpochMs = Math.round(this.#options.clock.epochMs() - this.#leg.streamMs);
    this.#options.toControl({ type: 'media.started', callUuid, epoch, carrierCallId, streamId, startedAtEpochMs });
  }

  fed(): void {
    this.#placed?.fed();
  }

  negotiated(audio: NegotiatedAudio, visitor: Visitor | null, resumeNumber: number): void {
    const { callUuid, epoch, placeholders } = this.setup;
    this.#setup = {
      ...this.#setup,
      format: audio.input,
      outputFormat: audio.output,
      placeholders: visitor === null ? placeholders : { ...placeholders, ...valuesOf(visitor) },
    };
    this.#options.toControl({ type: 'web.session', callUuid, epoch, visitor, audio, resumeNumber });
  }

  faulted(detail: string): void {
    if (this.#faults++ > 0) return;
    this.#log.warn({ detail }, 'the carrier reports a fault of the stream');
    this.conversationEvent({
      type: 'warning',
      code: 'carrier_stream_fault',
      message: detail,
      atMs: this.#leg.streamMs,
    });
  }

  recovered(gapMs: number): void {
    this.conversationEvent({ type: 'recovery', what: 'pipeline_thread', gapMs, atMs: this.#leg.streamMs });
  }

  over(why: LegEnd, durationMs: number, detail: string): void {
    if (this.#legEnd !== null) return;
    this.#legEnd = { why, durationMs };
    this.#cancelLimit();
    const fields = { why, durationMs, ...this.#leg.counters };
    if (detail === '') this.#log.info(fields, 'stream over');
    else this.#log.warn({ ...fields, detail }, 'stream over');
    if (this.#isRecording) this.#options.recorder.close(this.setup, durationMs);
    this.#options.monitors?.callOver(this.setup.callUuid, this.#isHandedOver || this.#isSuperseded);
    this.#tellWebEnd(why);
    if (this.#placed === null) {
      this.#settle();
      return;
    }
    this.#cancelLimit = this.#options.clock.after(PIPELINE_CLOSE_LIMIT_MS, () => {
      this.#log.error('the pipeline did not close the call in time');
      this.#settle();
    });
    this.#placed.stop();
  }

  /** At once: the pipeline's last word takes a moment, in which the browser may come again. */
  #tellWebEnd(why: LegEnd): void {
    const { callUuid, epoch, web } = this.setup;
    if (web === undefined || this.#isHandedOver || this.#isSuperseded) return;
    this.#options.toControl({ type: 'web.ended', callUuid, epoch, why });
  }

  // The pipeline.

  conversationEvent(event: ConversationEvent): void {
    this.#leg.conversationEvent(event);
    this.#options.monitors?.event(this.setup.callUuid, event);
    // For the page alone; a turn's words come with its end.
    if (event.type === 'agent_text') return;
    if (event.type === 'latency' && this.#latencies.length < MOST_LATENCIES) this.#latencies.push(event.latency);
    const { callUuid, epoch } = this.setup;
    this.#options.toControl({ type: 'live', callUuid, epoch, atEpochMs: this.#options.clock.epochMs(), event });
  }

  toolAsked(ask: ToolAsk, { atPage, timeoutMs }: { atPage: boolean; timeoutMs: number }): void {
    const { callUuid, epoch } = this.setup;
    if (!atPage) {
      this.#toolAsks.set(ask.toolCallId, ask);
      this.#options.toControl({ type: 'tool.call', callUuid, epoch, ask });
    } else if (!this.#leg.toolAsked(ask, timeoutMs)) {
      const answer = toolFailed('unsupported', 'There is no page.');
      this.command({ type: 'tool.answer', toolCallId: ask.toolCallId, answer });
    }
  }

  toolCancelled(toolCallId: string): void {
    const { callUuid, epoch } = this.setup;
    if (this.#toolAsks.delete(toolCallId)) {
      this.#options.toControl({ type: 'tool.cancel', callUuid, epoch, toolCallId });
    } else this.#leg.toolCancelled(toolCallId);
  }

  checkpoint(checkpoint: Checkpoint): void {
    const { callUuid, epoch } = this.setup;
    this.#options.toControl({ type: 'checkpoint', callUuid, epoch, checkpoint });
  }

  ended(reason: EndedReason, disposition: string | null, error: string | null): void {
    if (this.#hasAgentEnded) return;
    this.#hasAgentEnded = true;
    const { callUuid, epoch } = this.setup;
    if (error !== null) this.#log.error({ reason, error }, 'the agent ended with an error');
    this.#options.toControl({ type: 'agent.ended', callUuid, epoch, reason, disposition, error });
    if (this.#legEnd !== null) return;
    this.#leg.agentEnded(reason);
    this.#cancelLimit = this.#options.clock.after(AGENT_END_LIMIT_MS, () => this.#leg.stop());
  }

  closed(lost: boolean): void {
    if (lost) {
      this.#placed = null;
      this.#leg.stop('failed', 1011, 'no pipeline thread can go on with this call');
    }
    if (this.#legEnd !== null) this.#settle();
  }

  moved(lostAtMs: number): SharedArrayBuffer | null {
    const block = this.#leg.rebind(lostAtMs);
    if (block !== null) this.#log.warn('moved to another pipeline thread');
    return block === null ? null : block.memory;
  }

  // The recorder.

  recorded(recording: RecordingFacts | null, error: string | null): void {
    const { callUuid, epoch } = this.setup;
    this.#isRecording = false;
    if (error !== null) this.#log.error({ error }, 'the recording failed');
    this.#options.toControl({ type: 'recording', callUuid, epoch, recording, error });
  }

  #settle(): void {
    if (this.#isStopped || this.#legEnd === null) return;
    this.#isStopped = true;
    this.#cancelLimit();
    const { callUuid, epoch } = this.setup;
    const { why, durationMs } = this.#legEnd;
    if (!this.#isHandedOver) {
      this.#options.toControl({
        type: 'media.stopped',
        callUuid,
        epoch,
        why,
        durationMs,
        latencies: this.#latencies,
      });
    }
    this.#options.over(this);
  }
}

/** A visitor's values for placeholders; the name wins over metadata of the same name (contract §3). */
function valuesOf({ name, metadata }: Visitor): Record<string, string> {
  const values = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, placeholderText(value)]));
  return name === '' ? values : { ...values, customer_name: name };
}
