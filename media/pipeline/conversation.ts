/**
 * The conversation of one call: what the caller's sound means for the agent's speech, and what the script makes of it. It joins
 * turn taking, the recogniser, barge-in, the script and the speaker; the call session feeds it frames and ticks. Events only:
 * nothing here runs per frame but a few comparisons.
 *
 *   frame → turn taker ─┬─ turn begins → recogniser (with the 500 ms before it)
 *                       └─ turn over → final words → barge-in's outcome → script → say · listen · end
 */
import type { Expectation, ScriptedAgent } from '../contract/agent-definition.ts';
import { voiceFormatOf } from '../contract/audio-format.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { SpeechToText } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { CONTROL_DONE, type ControlAction, type ControlOutcome, controlRefused } from '../contract/live-control.ts';
import type { SessionCommand } from '../contract/session-command.ts';
import type { ToolAnswer } from '../contract/tools.ts';
import { CallerTurn, type CallerTurnListener } from './caller-turn.ts';
import { PhraseBook, wordsOf } from './scripted/phrase-match.ts';
import { BRIDGE, type ScriptAction, type ScriptEvent, ScriptMachine } from './scripted/script-machine.ts';
import { AgentVoice, type AgentVoiceDeps, type AgentVoiceListener } from './speaking/agent-voice.ts';
import type { ToolPort } from './tools/tool-port.ts';
import { ToolUses } from './tools/tool-uses.ts';
import type { ReplyAnchor } from './transcript.ts';
import { BargeIn, bargeInOutcome } from './turn-taking/barge-in.ts';
import { INTERRUPTION_PATIENCE, patienceFor } from './turn-taking/patience.ts';
import { type TurnListener, TurnTaker } from './turn-taking/turn-taker.ts';
import { ENGLISH } from './turn-taking/word-lists.ts';
import { type Listening, type WordSense, WordSorter } from './turn-taking/word-sense.ts';
import { PRE_ROLL_MS, type Uplink, type UplinkSink } from './uplink/uplink.ts';

export interface ConversationDeps extends AgentVoiceDeps {
  speechToText: SpeechToText;
  tools: ToolPort;
  /** Called once: the agent has said its last word, or cannot go on. */
  end: (reason: EndedReason, disposition: string | null, error: string | null) => void;
}

/** A recogniser that gives no final result in this time is not waited for. */
const FINAL_WITHIN_MS = 1_500;
/** Shorter speech that nothing can be made of is a noise, not a miss. */
const SHORTEST_UNCLEAR_MS = 250;
/** Digits from the keypad are one answer when none has come for so long. */
const KEYS_AFTER_MS = 2_000;
const MOST_KEYS = 64;
/** Texts that an operator has asked for and that wait to be said. */
const MOST_QUEUED_TEXTS = 5;
/** A tool's result waits so long at most for a caller who talks on. */
const RESULT_WAITS_MS = 8_000;
/** Failures of the recogniser in a row that end the call. */
const MOST_RECOGNISER_FAILURES = 3;

/** A caller's turn whose words are final. */
interface Meaning {
  turn: CallerTurn;
  sense: WordSense;
  anchor: ReplyAnchor;
}

export class Conversation implements UplinkSink, TurnListener, CallerTurnListener, AgentVoiceListener {
  readonly #deps: ConversationDeps;
  readonly #setup: CallSetup;
  readonly #script: ScriptMachine;
  readonly #voice: AgentVoice;
  readonly #tools: ToolUses;
  readonly #taker: TurnTaker;
  readonly #bargeIn = new BargeIn();
  /** One object for all ticks. */
  readonly #tickEvent = { type: 'tick' as const, atMs: 0 };
  readonly #sorter = new WordSorter(ENGLISH);
  #uplink: Uplink | null = null;
  #listening: Listening = { book: new PhraseBook([]), asked: false, greeting: false };
  #expect: Expectation = 'open';
  #turn: CallerTurn | null = null;
  /** A turn whose meaning is known but waits until the far end has stopped playing. */
  #waiting: Meaning | null = null;
  /** What to do once the playhead is final. */
  #onceSettled: 'nothing' | 'commit' | 'resume' | 'bridge' = 'nothing';
  /** The line is dead: time stands still. */
  #held = false;
  /** Typed while the agent spoke and was not to be interrupted. */
  #typed: string | null = null;
  #anchor: ReplyAnchor | null = null;
  /** Of a caller who has had no word since a tool was asked. */
  #owedAnchor: ReplyAnchor | null = null;
  /** A tool's result waits for the caller to finish since then; NaN: none does. */
  #resultSinceMs = Number.NaN;
  #keys = '';
  #keysByMs = Number.POSITIVE_INFINITY;
  #recogniserFailures = 0;
  #ended = false;
  /** Said for an operator, beside the script; the first of them may be what is being said. */
  readonly #queuedTexts: string[] = [];
  #operatorSpeaks = false;
  /** The script's last words were heard to their end, and an operator's text came before it was told. */
  #saidOwed = false;
  #muted = false;

  constructor(deps: ConversationDeps, setup: CallSetup, agent: ScriptedAgent) {
    this.#deps = deps;
    this.#setup = setup;
    const ownLimitMs = (agent.maxDurationSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    this.#script = new ScriptMachine({
      agent,
      placeholders: setup.placeholders,
      maxDurationMs: Math.min(setup.maxDurationMs, ownLimitMs),
    });
    this.#voice = new AgentVoice(deps, agent.voice, voiceFormatOf(setup.outputFormat ?? setup.format), this);
    this.#tools = new ToolUses({
      callUuid: setup.callUuid,
      definitions: agent.tools ?? [],
      port: deps.tools,
      clock: deps.clock,
      transcript: deps.transcript,
      resumed: setup.checkpoint?.tools ?? null,
      hasPage: setup.web !== undefined,
    });
    this.#taker = new TurnTaker(this, patienceFor('open'));
  }

  /** The agent has ended the call, or could not go on: nothing is said or heard any more. */
  get ended(): boolean {
    return this.#ended;
  }

  start(uplink: Uplink): void {
    this.#uplink = uplink;
    const { checkpoint } = this.#setup;
    this.#tell({ type: 'start', atMs: this.#deps.transcript.nowMs, checkpoint });
    // Before a frame of it was made.
    if (checkpoint?.muted === true) this.#mute();
  }

  /** After the uplink was drained: deadlines, playback, what waits for it. */
  tick(): void {
    if (this.#ended) return;
    const nowMs = this.#deps.clock.nowMs();
    if (this.#turn !== null && nowMs >= this.#turn.finalByMs) this.#finalIsLate(this.#turn);
    this.#voice.pump();
    if (this.#held) return;
    if (this.#onceSettled !== 'nothing' && this.#voice.settled) this.#settled();
    if (nowMs >= this.#keysByMs) this.#keysDone();
    if (this.#ended) return;
    this.#tools.tick();
    if (this.#queuedTexts.length > 0) this.#sayQueued();
    if (!this.#operatorSpeaks && !this.#muted) {
      this.#tellToolResult(nowMs);
      this.#tickScript();
    }
    this.#checkpoint();
  }

  toolAnswered(toolCallId: string, answer: ToolAnswer): void {
    if (!this.#ended) this.#tools.answered(toolCallId, answer);
  }

  /** When the agent is silent, and so is the caller. */
  #tellToolResult(nowMs: number): void {
    if (!this.#tools.hasResult || this.#voice.active || this.#waiting !== null) return;
    if (Number.isNaN(this.#resultSinceMs)) this.#resultSinceMs = nowMs;
    if (this.#turn !== null && nowMs - this.#resultSinceMs < RESULT_WAITS_MS) return;
    this.#resultSinceMs = Number.NaN;
    const answer = this.#tools.take();
    if (answer === null) return;
    const { transcript } = this.#deps;
    transcript.oweCheckpoint();
    this.#tell({ type: 'tool', atMs: transcript.nowMs, answer });
  }

  #tickScript(): void {
    this.#tickEvent.atMs = this.#deps.transcript.nowMs;
    this.#tell(this.#tickEvent);
  }

  pressed(key: string): void {
    if (this.#ended) return;
    if (/^[0-9]$/.test(key) && this.#keys.length < MOST_KEYS) this.#keys += key;
    this.#keysByMs = this.#deps.clock.nowMs() + (key === '#' ? 0 : KEYS_AFTER_MS);
  }

  /** Somebody steers the call from outside. */
  control(action: ControlAction): ControlOutcome {
    if (this.#ended) return controlRefused('ending');
    switch (action.type) {
      case 'say':
        if (this.#muted) return controlRefused('muted');
        if (this.#queuedTexts.length >= MOST_QUEUED_TEXTS) return controlRefused('queue_full');
        this.#queuedTexts.push(action.text);
        if (action.interrupt) this.#cutForOperator();
        this.#sayQueued();
        return CONTROL_DONE;
      case 'inject':
        if (this.#muted) return controlRefused('muted');
        this.#cutForOperator();
        this.#tell({ type: 'heard', atMs: this.#deps.transcript.nowMs, text: action.text });
        return CONTROL_DONE;
      case 'mute_agent':
        this.#mute();
        return CONTROL_DONE;
      case 'unmute_agent':
        this.#unmute();
        return CONTROL_DONE;
      case 'dtmf':
        return controlRefused('unsupported');
    }
  }

  /** Asked by a web page. */
  command(command: SessionCommand): void {
    if (this.#ended) return;
    if (command.type === 'hold') this.#hold(command.held);
    else if (command.type === 'text') this.#heardTyped(command.text, command.interrupt);
    else if (this.#voice.active && this.#voice.interruptible) this.#commit();
  }

  /** The leg is over: closes what is open with what was heard of it. */
  close(): void {
    this.#voice.silence(false);
    if (this.#turn !== null) {
      const turn = this.#turn;
      this.#turn = null;
      turn.close();
      const sense = this.#sense(turn);
      if (sense !== 'nothing' && sense !== 'rejected') {
        this.#record(turn, sense === 'acknowledge' && turn.duringSpeech ? 'backchannel' : 'speech');
      }
    }
    this.#tools.cancel();
    this.#ended = true;
    this.#checkpoint();
  }

  // ── What comes up the line ────────────────────────────────────────────────────────────────────────────

  frame(atMs: number, monoSamples: Int16Array, isSpeech: boolean): void {
    if (this.#ended || this.#held) return;
    const turn = this.#turn;
    this.#taker.push(atMs, isSpeech);
    if (turn !== null && turn === this.#turn && Number.isNaN(turn.decidedAtMs)) turn.push(monoSamples);
    if (!this.#bargeIn.active) return;
    const verdict = this.#bargeIn.judge(this.#taker.nowMs, this.#taker.spokenMs);
    if (verdict === 'none') return;
    if (verdict === 'pause') this.#pause();
    else this.#commit();
  }

  audioStopped(): void {
    if (!this.#ended && !this.#held) this.#taker.audioStopped();
  }

  turnStarted(onsetMs: number): void {
    this.#deps.transcript.openUserTurn();
    this.#callerSpeaks(true, onsetMs);
    this.#beginTurn(onsetMs);
  }

  speechResumed(onsetMs: number): void {
    this.#callerSpeaks(true, onsetMs);
  }

  speechPaused(lastSpeechEndMs: number): void {
    this.#callerSpeaks(false, lastSpeechEndMs);
  }

  turnEnded(_why: unknown, lastSpeechEndMs: number): void {
    this.#uplink?.forgetPreRoll();
    const turn = this.#turn;
    if (turn === null || turn.done) return;
    turn.lastSpeechEndMs = lastSpeechEndMs;
    turn.decidedAtMs = this.#deps.transcript.nowMs;
    turn.finalByMs = this.#deps.clock.nowMs() + FINAL_WITHIN_MS;
    turn.finish();
  }

  // ── What the recogniser makes of it ───────────────────────────────────────────────────────────────────

  partial(turn: CallerTurn): void {
    if (turn !== this.#turn) return;
    this.#weighWords(turn);
    if (turn.text === '') return;
    const { nowMs, userTurnId } = this.#deps.transcript;
    this.#deps.transcript.live({ type: 'partial', text: turn.text, atMs: nowMs, turnId: userTurnId });
  }

  recogniserFailed(error: Error): void {
    this.#recogniserFailures++;
    this.#deps.transcript.warning('stt_error', error.message);
    if (this.#recogniserFailures < MOST_RECOGNISER_FAILURES) return;
    this.#deps.logger.error({ err: error }, 'the recogniser failed three times in a row; the call ends');
    this.#finish('stt_error', null, error.message);
  }

  final(turn: CallerTurn): void {
    if (turn !== this.#turn || this.#ended) return;
    const { transcript } = this.#deps;
    if (!turn.failed) this.#recogniserFailures = 0;
    if (Number.isNaN(turn.decidedAtMs)) {
      // The recogniser came to its end before the turn did.
      turn.decidedAtMs = transcript.nowMs;
      turn.lastSpeechEndMs = this.#taker.lastSpeechEndMs;
      this.#taker.abandon();
    }
    this.#turn = null;
    const sense = this.#sense(turn);
    const undecided = this.#bargeIn.active && !this.#bargeIn.committed && this.#voice.active;
    const outcome = undecided ? bargeInOutcome(sense, turn.spokenMs, this.#bargeIn.early) : 'commit';
    this.#bargeIn.end();
    if (outcome !== 'commit') {
      if (outcome === 'backchannel') this.#record(turn, 'backchannel');
      this.#goOn();
      return;
    }
    if (undecided) this.#commit();
    const anchor = {
      speechEndMs: transcript.at(turn.lastSpeechEndMs),
      decidedAtMs: turn.decidedAtMs,
      recognisedAtMs: transcript.nowMs,
    };
    if (this.#onceSettled === 'commit') this.#waiting = { turn, sense, anchor };
    else if (!this.#voice.active) this.#mean({ turn, sense, anchor });
  }

  // ── What is played ────────────────────────────────────────────────────────────────────────────────────

  utteranceSaid(): void {
    this.#bargeIn.end();
    this.#taker.patience = patienceFor(this.#expect);
    if (!this.#operatorSpeaks) this.#saidOwed = true;
    this.#operatorSpeaks = false;
    if (this.#queuedTexts.length === 0) this.#goOnAfterWords();
    const typed = this.#typed;
    if (typed !== null && !this.#ended && !this.#voice.active) {
      this.#typed = null;
      this.#heardTyped(typed, false);
      return;
    }
    if (!this.#ended && this.#turn === null && this.#taker.turnOpen) {
      // The caller has been talking into what may not be interrupted: from here on someone listens.
      this.#beginTurn(Math.max(this.#taker.turnOnsetMs, this.#taker.nowMs - PRE_ROLL_MS));
    }
  }

  voiceLost(error: Error): void {
    this.#finish('tts_error', null, error.message);
  }

  // ── What an operator asks for ─────────────────────────────────────────────────────────────────────────

  /** When the agent is silent and nobody waits for an answer. */
  #sayQueued(): void {
    if (this.#voice.active || this.#muted || this.#ended || this.#turn !== null || this.#waiting !== null) return;
    const text = this.#queuedTexts.shift();
    if (text === undefined) return;
    this.#operatorSpeaks = true;
    this.#voice.say({ text, stepId: null, interruptible: true, isGreeting: false, anchor: null });
  }

  /** The script hears that its words were said; or, after an operator's, that the caller may take their time anew. */
  #goOnAfterWords(): void {
    const type = this.#saidOwed ? 'said' : 'hold';
    this.#saidOwed = false;
    this.#tell({ type, atMs: this.#deps.transcript.nowMs });
  }

  #cutForOperator(): void {
    if (!this.#voice.active) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#onceSettled = 'nothing';
    this.#bargeIn.end();
    this.#voice.silence(true);
    this.#operatorSpeaks = false;
    this.#saidOwed = false;
    if (waiting !== null) this.#record(waiting.turn, 'unclear');
    this.#tell({ type: 'interrupted', atMs: this.#deps.transcript.nowMs });
  }

  #mute(): void {
    if (this.#muted) return;
    this.#muted = true;
    this.#deps.transcript.oweCheckpoint();
    if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
    this.#voice.pause();
  }

  #unmute(): void {
    if (!this.#muted) return;
    this.#muted = false;
    this.#deps.transcript.oweCheckpoint();
    if (!this.#voice.active) this.#tell({ type: 'hold', atMs: this.#deps.transcript.nowMs });
    else if (this.#voice.settled) this.#voice.resume();
    else this.#onceSettled = 'resume';
  }

  // ── Inside ────────────────────────────────────────────────────────────────────────────────────────────

  #tell(event: ScriptEvent): void {
    const actions = this.#script.handle(event);
    for (let i = 0; i < actions.length; i++) this.#act(actions[i]!);
  }

  #act(action: ScriptAction): void {
    if (this.#ended) return;
    const { transcript } = this.#deps;
    switch (action.type) {
      case 'step':
        transcript.live({ type: 'step', stepId: action.stepId, atMs: transcript.nowMs });
        break;
      case 'warning':
        transcript.warning(action.code, action.message);
        break;
      case 'listen':
        this.#listening = { book: action.book, asked: action.asked, greeting: action.stepId === null };
        this.#expect = action.expect;
        this.#taker.patience = patienceFor(action.expect);
        break;
      case 'say':
        this.#say(action);
        break;
      case 'tool':
        this.#owedAnchor = this.#anchor;
        this.#tools.begin(action.name, action.arguments, () => {
          // Before the request: whoever goes on after a death asks for the same use, and not for another.
          transcript.oweCheckpoint();
          this.#checkpoint();
        });
        break;
      case 'end':
        this.#finish(action.reason, action.disposition, action.error);
        break;
    }
  }

  #say({ text, stepId, purpose, interruptible }: Extract<ScriptAction, { type: 'say' }>): void {
    const anchor = this.#anchor ?? this.#owedAnchor;
    this.#owedAnchor = null;
    this.#voice.say({ text, stepId, interruptible, isGreeting: purpose === 'greeting', anchor });
    if (this.#turn === null) return;
    if (interruptible) {
      this.#weigh(this.#turn);
    } else {
      this.#turn.close();
      this.#turn = null;
    }
  }

  /** A turn of the caller: someone must listen, unless the agent is speaking and may not be interrupted. */
  #beginTurn(onsetMs: number): void {
    const speaks = this.#voice.active;
    if (speaks && !this.#voice.interruptible) return;
    if (this.#turn !== null) this.#turn.settle();
    if (this.#ended) return;
    const turn = new CallerTurn(onsetMs, speaks, this);
    this.#turn = turn;
    turn.listen(this.#deps.speechToText, { phrases: this.#sorter.phrasesFor(this.#listening, speaks) });
    this.#uplink?.replay((samples) => turn.push(samples));
    if (speaks) this.#weigh(turn);
  }

  /** From here on the caller's words decide whether the agent goes on. */
  #weigh(turn: CallerTurn): void {
    turn.duringSpeech = true;
    this.#bargeIn.begin(!this.#voice.audible);
    this.#taker.patience = INTERRUPTION_PATIENCE;
    if (turn.text !== '' || turn.rejected) this.#weighWords(turn);
  }

  #weighWords(turn: CallerTurn): void {
    const sense = this.#sense(turn);
    const fromLists = sense === 'acknowledge' || sense === 'interrupt' || sense === 'hold';
    this.#taker.partialChanged(sense === 'phrase' || (turn.duringSpeech && fromLists));
    this.#bargeIn.wordsChanged(sense, this.#taker.nowMs);
  }

  #pause(): void {
    if (!this.#voice.active) return;
    this.#voice.pause();
    this.#bargeInEvent('pause');
  }

  #commit(): void {
    this.#taker.patience = patienceFor(this.#expect);
    if (!this.#voice.active) return;
    this.#voice.pause();
    this.#onceSettled = 'commit';
    if (this.#voice.settled) this.#settled();
  }

  #goOn(): void {
    this.#taker.patience = patienceFor(this.#expect);
    if (!this.#bargeIn.paused || !this.#voice.active || this.#muted) return;
    this.#onceSettled = 'resume';
    if (this.#voice.settled) this.#settled();
  }

  /** The playhead is final: cut there, or go on from the word that was cut. */
  #settled(): void {
    const what = this.#onceSettled;
    this.#onceSettled = 'nothing';
    if (what === 'bridge') {
      this.#bridge();
      return;
    }
    if (what === 'resume') {
      this.#bargeInEvent('resume');
      this.#voice.resume();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    const turn = waiting?.turn ?? this.#turn;
    if (turn !== null) turn.cutAgent = true;
    this.#bargeInEvent('commit', this.#voice.heardText);
    this.#voice.silence(true);
    this.#operatorSpeaks = false;
    this.#saidOwed = false;
    this.#bargeIn.end();
    this.#tell({ type: 'interrupted', atMs: this.#deps.transcript.nowMs });
    if (waiting !== null) this.#mean(waiting);
  }

  /** The caller's words reach the script. An agent that was cut for them owes an answer, whatever they were. */
  #mean({ turn, sense, anchor }: Meaning): void {
    const atMs = this.#deps.transcript.nowMs;
    if (this.#muted) {
      if (sense !== 'nothing' && sense !== 'rejected') this.#record(turn, sense === 'phrase' ? 'speech' : 'unclear');
      return;
    }
    this.#anchor = anchor;
    if (sense === 'phrase' || sense === 'other' || sense === 'interrupt') {
      this.#record(turn, sense === 'phrase' ? 'speech' : 'unclear');
      this.#tell({ type: 'heard', atMs, text: turn.text });
    } else if (sense === 'hold') {
      this.#record(turn, 'speech');
      // Whoever waits for a tool already gives them their moment.
      if (!this.#tools.waiting) this.#tell({ type: 'hold', atMs });
    } else if (sense === 'acknowledge' && turn.duringSpeech && !turn.cutAgent) {
      this.#record(turn, 'backchannel');
    } else if (turn.cutAgent || (sense !== 'nothing' && turn.spokenMs >= SHORTEST_UNCLEAR_MS)) {
      this.#record(turn, 'unclear');
      this.#tell({ type: 'unclear', atMs });
    }
    this.#anchor = null;
  }

  #record(turn: CallerTurn, kind: 'speech' | 'backchannel' | 'unclear'): void {
    const { transcript } = this.#deps;
    const intent = kind === 'speech' ? (this.#script.match(turn.text)?.reply.intent ?? null) : null;
    const startMs = transcript.at(turn.onsetMs);
    const endMs = transcript.at(turn.lastSpeechEndMs);
    transcript.userTurn({ startMs, endMs, text: turn.text, kind }, this.#script.stepId, intent);
  }

  #sense(turn: CallerTurn): WordSense {
    return this.#sorter.sense(turn.text, turn.rejected, this.#listening);
  }

  #finalIsLate(turn: CallerTurn): void {
    this.#deps.transcript.warning('stt_slow', `The recogniser gave no final result within ${FINAL_WITHIN_MS} ms.`);
    turn.settle();
  }

  /** Typed words mean what they would mean spoken; nobody murmurs on a keyboard, so they are always meant for the agent. */
  #heardTyped(text: string, interrupt: boolean): void {
    const { transcript } = this.#deps;
    const nowMs = transcript.nowMs;
    this.#turn?.close();
    this.#turn = null;
    this.#bargeIn.end();
    if (this.#voice.active && !(interrupt && this.#voice.interruptible)) {
      this.#typed = this.#typed === null ? text : `${this.#typed} ${text}`;
      return;
    }
    const streamMs = this.#deps.call.streamMs;
    const turn = new CallerTurn(streamMs, this.#voice.active, this);
    turn.text = text;
    turn.done = true;
    turn.decidedAtMs = nowMs;
    transcript.openUserTurn();
    const sense: WordSense = this.#script.match(text) === null ? 'other' : 'phrase';
    const meaning = { turn, sense, anchor: { speechEndMs: nowMs, decidedAtMs: nowMs, recognisedAtMs: nowMs } };
    if (!this.#voice.active) {
      this.#mean(meaning);
      return;
    }
    this.#waiting = meaning;
    this.#commit();
  }

  #hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (held) {
      this.#turn?.close();
      this.#turn = null;
      this.#bargeIn.end();
      this.#taker.abandon();
      this.#uplink?.forgetPreRoll();
      if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
      if (this.#onceSettled === 'nothing' && this.#voice.active) this.#voice.pause();
      return;
    }
    // What was to be said next, if anything, is still owed; a commit that waits goes its own way, and a muted agent says nothing.
    if (this.#onceSettled === 'commit' || this.#muted) return;
    if (!this.#voice.active) this.#bridge();
    else if (this.#voice.settled) this.#bridge();
    else this.#onceSettled = 'bridge';
  }

  /** The line is back: a short word, and then what was cut. */
  #bridge(): void {
    const unsaid = this.#voice.active ? this.#voice.unsaid : null;
    if (unsaid !== null) this.#voice.silence(true);
    // A bridge alone is no answer of the script's: it only gives the caller their time anew.
    else this.#operatorSpeaks = true;
    const said = unsaid?.utterance ?? { stepId: this.#script.stepId, interruptible: true };
    const text = `${BRIDGE} ${unsaid?.restText ?? ''}`.trim();
    this.#voice.say({ ...said, text, isGreeting: false, anchor: null });
  }

  #keysDone(): void {
    const digits = this.#keys;
    this.#keys = '';
    this.#keysByMs = Number.POSITIVE_INFINITY;
    if (digits === '' || this.#voice.active || this.#muted) return;
    const atMs = this.#deps.transcript.nowMs;
    const intent = this.#script.match(digits)?.reply.intent ?? null;
    this.#deps.transcript.userTurn(
      { startMs: atMs, endMs: atMs, text: wordsOf(digits).join(' '), kind: intent === null ? 'unclear' : 'speech' },
      this.#script.stepId,
      intent,
    );
    this.#tell({ type: 'heard', atMs, text: digits });
  }

  #callerSpeaks(speaking: boolean, streamMs: number): void {
    const { transcript } = this.#deps;
    const phase = speaking ? 'start' : 'end';
    const turnId = transcript.userTurnId;
    transcript.live({ type: 'speech', who: 'user', phase, atMs: transcript.at(streamMs), turnId });
    this.#tell({ type: 'caller', atMs: transcript.nowMs, speaking });
  }

  #bargeInEvent(phase: 'pause' | 'commit' | 'resume', heardText?: string): void {
    const { transcript } = this.#deps;
    const atMs = transcript.nowMs;
    transcript.live(
      heardText === undefined ? { type: 'barge_in', phase, atMs } : { type: 'barge_in', phase, atMs, heardText },
    );
  }

  #checkpoint(): void {
    const { transcript } = this.#deps;
    if (!transcript.checkpointDue) return;
    const { begun, waiting } = this.#tools.snapshot();
    transcript.checkpoint({
      ...this.#script.snapshot(),
      ...(begun > 0 ? { tools: { begun, waiting } } : {}),
      ...(this.#muted ? { muted: true as const } : {}),
    });
  }

  #finish(reason: EndedReason, disposition: string | null, error: string | null): void {
    if (this.#ended) return;
    this.#voice.silence(false);
    this.#turn?.close();
    this.#turn = null;
    this.#tools.cancel();
    this.#ended = true;
    this.#checkpoint();
    this.#deps.end(reason, disposition, error);
  }
}
