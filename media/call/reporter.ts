/**
 * The call's reporter: what a call leaves behind while it runs, turns with their numbers and times, events, reply
 * latencies, checkpoints. The conversation and its parts tell it what happened; it sends messages and decides nothing.
 * All times are ms of stream, shifted by what lay before a checkpoint that came from another stream.
 */
import { LONGEST_AGENT_STATE } from '../contract/agent.ts';
import { type AgentState, type Checkpoint, readCheckpoint } from '../contract/checkpoint.ts';
import type { Clock } from '../contract/clock.ts';
import type { ConversationEvent, ModelRequestFacts, Turn } from '../contract/conversation.ts';
import type { EngineChoice } from '../contract/engine-kinds.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import type { CallBlock } from '../rings/call-block.ts';
import { type AskTimes, type ReplyAnchor, replyStages, requestFacts, type SpeakTimes } from './reply-stages.ts';
import { storable } from './storable.ts';

/** `CallBlock.streamMs` moves once in 20 ms, or at each frame of the caller's: it is no further behind than this. */
const MOST_STREAM_LAG_MS = 60;

/** What begins to be said. */
interface BegunSpeech {
  text: string;
  stepId: string | null;
  /** If it answers the caller. */
  anchor: ReplyAnchor | null;
  /** Of whose answer it is. */
  ask: AskTimes | null;
  /** When its first audio was there, ms of stream by the frame. */
  voicedAtMs: number;
  spoken: SpeakTimes;
}

export class CallReporter {
  readonly #callUuid: string;
  readonly #answeredAtEpochMs: number;
  readonly #call: CallBlock;
  readonly #clock: Clock;
  readonly #send: (message: FromPipeline) => void;
  readonly #shiftMs: number;
  /** `Clock.nowMs` at the stream's begin, by what was seen so far. */
  #streamBeganMs = Number.POSITIVE_INFINITY;
  readonly #engines: EngineChoice | null;
  #nextTurnNumber: number;
  #agentTurn: { turnId: string; handedOverAtMs: number; text: string; stepId: string | null } | null = null;
  /** Numbers that were told already, of turns that are not over. */
  #reservedAgentTurn: number | null = null;
  #reservedUserTurn: number | null = null;
  #firstAudioTold = false;
  #checkpointDue = false;
  /** Sees each turn as it is told. */
  onTurn: ((turn: Turn) => void) | null = null;

  /** `engines`: with which the call hears, thinks and speaks. */
  constructor(
    setup: CallSetup,
    call: CallBlock,
    clock: Clock,
    send: (message: FromPipeline) => void,
    engines: EngineChoice | null = null,
  ) {
    this.#engines = engines;
    const checkpoint = setup.checkpoint === null ? null : readCheckpoint(setup.checkpoint);
    this.#callUuid = setup.callUuid;
    this.#answeredAtEpochMs = setup.answeredAtEpochMs;
    this.#call = call;
    this.#clock = clock;
    this.#send = (message) => send(storable(message));
    this.#shiftMs = checkpoint !== null && call.streamMs < checkpoint.atMs ? checkpoint.atMs : 0;
    this.#nextTurnNumber = checkpoint?.nextTurnNumber ?? 1;
    this.#firstAudioTold = checkpoint !== null;
  }

  /** Now, in ms of stream. */
  get nowMs(): number {
    return this.#call.streamMs + this.#shiftMs;
  }

  /** Now, in ms of stream, between two frames too. */
  get exactMs(): number {
    return this.exactAt(this.#clock.nowMs());
  }

  /** A recent `Clock.nowMs`, in ms of stream. NaN stays NaN. */
  exactAt(clockMs: number): number {
    const nowMs = this.#clock.nowMs();
    const { streamMs } = this.#call;
    const beganMs = nowMs - streamMs;
    // The block says how late it was when it was written last; the earliest begin that it allows is the true one.
    const isBehind = beganMs - this.#streamBeganMs > MOST_STREAM_LAG_MS;
    if (beganMs < this.#streamBeganMs || isBehind) this.#streamBeganMs = beganMs;
    return clockMs - this.#streamBeganMs + this.#shiftMs;
  }

  /** Audio time of this stream → the transcript's time. */
  at(streamMs: number): number {
    return Math.round(streamMs + this.#shiftMs);
  }

  conversationEvent(event: ConversationEvent): void {
    this.#send({ type: 'call.event', callUuid: this.#callUuid, event });
  }

  /** `key`: what it is about, met `count` times. Of ear and voice it is by what they are reached. */
  warning(
    code: string,
    message: string,
    { key = this.#atFault(code), count = 1 }: { key?: string | undefined; count?: number } = {},
  ): void {
    this.conversationEvent({
      type: 'warning',
      code,
      message,
      ...(key === undefined ? {} : { key, count }),
      atMs: this.nowMs,
    });
  }

  #atFault(code: string): string | undefined {
    const use = code === 'stt_error' ? this.#engines?.ear : code === 'tts_error' ? this.#engines?.voice : undefined;
    return use?.connection ?? use?.engine;
  }

  /** The far end got the first frame of an utterance. */
  agentStarted({ text, stepId, anchor, ask, voicedAtMs, spoken }: BegunSpeech): void {
    const atMs = this.nowMs;
    const turnId = `t${this.reserveAgentTurn()}`;
    this.#reservedAgentTurn = null;
    this.#agentTurn = { turnId, handedOverAtMs: atMs, text, stepId };
    this.#call.heardChars = 0;
    const startStreamMs = this.#call.streamMs;
    this.#send({
      type: 'call.speaking',
      callUuid: this.#callUuid,
      utterance: { turnId, text, stepId, startMs: this.at(startStreamMs), startStreamMs },
    });
    if (!this.#firstAudioTold) {
      this.#firstAudioTold = true;
      const answerToFirstWordMs = Math.max(0, Math.round(this.#clock.epochMs() - this.#answeredAtEpochMs));
      this.conversationEvent({ type: 'first_audio', atMs, answerToFirstWordMs });
    }
    this.conversationEvent({ type: 'speech', who: 'agent', phase: 'start', atMs, turnId });
    if (anchor === null) return;
    const since = (thenMs: number) => Math.max(0, Math.round(thenMs - anchor.speechEndMs));
    const latency = {
      turnId,
      eouMs: since(anchor.decidedAtMs),
      sttMs: since(anchor.recognisedAtMs),
      ttsMs: since(voicedAtMs),
      agentMs: since(atMs),
      stages: replyStages(anchor, ask, spoken, this.#engines),
    };
    this.conversationEvent({ type: 'latency', latency });
  }

  /** A question to a model is over. */
  modelAsked(times: AskTimes, end: Pick<ModelRequestFacts, 'outcome' | 'fault' | 'usage'>): void {
    if (this.#engines === null) return;
    const request = requestFacts(times, this.exactMs, end, this.#engines);
    if (request !== null) this.conversationEvent({ type: 'model_request', request, atMs: this.nowMs });
  }

  /** The utterance that is being said has more text. */
  agentSaysMore(text: string): void {
    const open = this.#agentTurn;
    if (open === null) return;
    const { turnId } = open;
    this.#send({ type: 'call.speaking.more', callUuid: this.#callUuid, turnId, more: text.slice(open.text.length) });
    open.text = text;
  }

  /** What was said was a sound without words, and is no turn. */
  soundEnded(): void {
    this.#agentTurn = null;
  }

  /**
   * The utterance is over: played from one stream time to the other. `startedAtStreamMs` NaN: nothing of it was played.
   */
  agentEnded(startedAtStreamMs: number, endedAtStreamMs: number, heardText: string, interrupted: boolean): void {
    const open = this.#agentTurn;
    if (open === null) return;
    this.#agentTurn = null;
    const endMs = this.at(endedAtStreamMs);
    this.conversationEvent({ type: 'speech', who: 'agent', phase: 'end', atMs: endMs, turnId: open.turnId });
    const startMs = Math.min(Number.isNaN(startedAtStreamMs) ? open.handedOverAtMs : this.at(startedAtStreamMs), endMs);
    const turn: Turn = {
      turnId: open.turnId,
      role: 'agent',
      startMs,
      endMs,
      text: open.text,
      heardText,
      interrupted,
      kind: 'speech',
    };
    if (open.stepId !== null) turn.stepId = open.stepId;
    this.#turn(turn);
  }

  /** Somebody begins to be heard in the agent's place: the turn's id. */
  personStarted(): string {
    const turnId = `t${this.reserveAgentTurn()}`;
    this.#reservedAgentTurn = null;
    this.conversationEvent({ type: 'speech', who: 'agent', phase: 'start', atMs: this.nowMs, turnId });
    return turnId;
  }

  personEnded(turnId: string): void {
    this.conversationEvent({ type: 'speech', who: 'agent', phase: 'end', atMs: this.nowMs, turnId });
  }

  /** All that is known of it. */
  personTurn(turn: Pick<Turn, 'turnId' | 'startMs' | 'endMs' | 'text'>): void {
    const { text } = turn;
    this.#turn({ ...turn, role: 'agent', by: 'person', heardText: text, interrupted: false, kind: 'speech' });
  }

  /** Words of the open agent turn begin to be played. */
  agentText(delta: string): void {
    if (this.#agentTurn !== null) {
      this.conversationEvent({ type: 'agent_text', turnId: this.#agentTurn.turnId, delta, atMs: this.nowMs });
    }
  }

  /** The number of the agent turn that comes next, before its first frame is handed over. */
  reserveAgentTurn(): number {
    this.#reservedAgentTurn = this.#reserve(this.#reservedAgentTurn);
    return this.#reservedAgentTurn;
  }

  /** The caller has begun to speak: the turn has its id from here on, should it come to anything. */
  openUserTurn(): void {
    this.#reservedUserTurn = this.#reserve(this.#reservedUserTurn);
  }

  /** Of the turn that the caller opened last. */
  get userTurnId(): string {
    return `t${this.#reservedUserTurn ?? this.#nextTurnNumber}`;
  }

  userTurn(
    turn: Pick<Turn, 'startMs' | 'endMs' | 'text' | 'unclear'> & Required<Pick<Turn, 'kind'>>,
    stepId: string | null,
    intent: string | null,
  ): void {
    const whole: Turn = {
      turnId: this.#takeUserTurnId(),
      role: 'user',
      startMs: turn.startMs,
      endMs: Math.max(turn.startMs, turn.endMs),
      text: turn.text,
      heardText: turn.text,
      interrupted: false,
      kind: turn.kind,
    };
    if (turn.unclear !== undefined) whole.unclear = turn.unclear;
    if (intent !== null) whole.intent = intent;
    if (stepId !== null) whole.stepId = stepId;
    this.#turn(whole);
  }

  /** What a successor has to know has changed without a turn. */
  oweCheckpoint(): void {
    this.#checkpointDue = true;
  }

  /**
   * Sends a checkpoint if one is owed: a turn has ended since the last one. Throws when the agent's state has grown out
   * of bounds.
   */
  checkpoint(conversation: Omit<Checkpoint, 'nextTurnNumber' | 'atMs'> & { agent: AgentState }): void {
    if (!this.#checkpointDue) return;
    this.#checkpointDue = false;
    const { agent } = conversation;
    const chars = JSON.stringify(agent.state).length;
    if (chars > LONGEST_AGENT_STATE) {
      throw new Error(`the agent's state has ${chars} characters of JSON; ${LONGEST_AGENT_STATE} may be kept`);
    }
    const checkpoint: Checkpoint = { ...conversation, nextTurnNumber: this.#nextTurnNumber, atMs: this.nowMs };
    this.#send({ type: 'call.checkpoint', callUuid: this.#callUuid, checkpoint });
  }

  get checkpointDue(): boolean {
    return this.#checkpointDue;
  }

  /**
   * A number that came to nothing is used again, unless a later turn has begun: ids keep the order in which turns
   * began.
   */
  #reserve(unused: number | null): number {
    return unused !== null && unused === this.#nextTurnNumber - 1 ? unused : this.#nextTurnNumber++;
  }

  #takeUserTurnId(): string {
    const number = this.#reservedUserTurn ?? this.#nextTurnNumber++;
    this.#reservedUserTurn = null;
    return `t${number}`;
  }

  #turn(turn: Turn): void {
    this.#checkpointDue = true;
    this.onTurn?.(turn);
    this.conversationEvent({ type: 'turn', turn });
  }
}
