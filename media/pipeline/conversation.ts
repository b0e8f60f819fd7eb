/**
 * The conversation of one call: what the caller's words mean for the agent's speech, and what the script makes of them. It joins hearing, the
 * script, the voice, tools and whoever steers the call from outside; the call session feeds it ticks, and its hearing frames.
 *
 *   hearing ── may interrupt · interrupts · meant ──► pause · cut ──► script ──► say · listen · use a tool · end
 */
import type { ScriptedAgent } from '../contract/agent-definition.ts';
import { voiceFormatOf } from '../contract/audio-format.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { SpeechToText } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { CONTROL_DONE, type ControlAction, type ControlOutcome, controlRefused } from '../contract/live-control.ts';
import type { SessionCommand } from '../contract/session-command.ts';
import type { ToolAnswer } from '../contract/tools.ts';
import { CallerTurn } from './caller-turn.ts';
import { CallerWords } from './caller-words.ts';
import { Hearing, type HearingListener, isSpeech, type Meaning, SHORTEST_SPEECH_MS } from './hearing.ts';
import { Keypad } from './keypad.ts';
import { OperatorDesk } from './operator-desk.ts';
import { BRIDGE, type ScriptAction, type ScriptEvent, ScriptMachine } from './scripted/script-machine.ts';
import { AgentVoice, type AgentVoiceDeps, type AgentVoiceListener, type Utterance } from './speaking/agent-voice.ts';
import type { ToolPort } from './tools/tool-port.ts';
import { ToolUses } from './tools/tool-uses.ts';
import type { ReplyAnchor } from './transcript.ts';
import { Encouragement } from './turn-taking/encouragement.ts';
import type { Uplink } from './uplink/uplink.ts';

export interface ConversationDeps extends AgentVoiceDeps {
  speechToText: SpeechToText;
  tools: ToolPort;
  /** Called once: the agent has said its last word, or cannot go on. */
  end: (reason: EndedReason, disposition: string | null, error: string | null) => void;
}

export class Conversation implements HearingListener, AgentVoiceListener {
  /** What comes up the line. */
  readonly hearing: Hearing;
  readonly #deps: ConversationDeps;
  readonly #setup: CallSetup;
  readonly #script: ScriptMachine;
  readonly #words: CallerWords;
  readonly #voice: AgentVoice;
  readonly #tools: ToolUses;
  readonly #keypad = new Keypad();
  readonly #operator = new OperatorDesk();
  readonly #encouragement = new Encouragement();
  /** One object for all ticks. */
  readonly #tickEvent = { type: 'tick' as const, atMs: 0 };
  /** A turn whose meaning is known but waits until the far end has stopped playing. */
  #waiting: Meaning | null = null;
  /** What to do once the playhead is final. */
  #onceSettled: 'nothing' | 'commit' | 'resume' | 'bridge' = 'nothing';
  /** The line is dead: time stands still. */
  #held = false;
  /** A clip that was cut, and sounds anew after the bridge. */
  #afterBridge: Utterance | null = null;
  /** Typed while the agent spoke and was not to be interrupted. */
  #typed: string | null = null;
  #anchor: ReplyAnchor | null = null;
  /** Of a caller who has had no word since a tool was asked. */
  #owedAnchor: ReplyAnchor | null = null;
  #ended = false;

  constructor(deps: ConversationDeps, setup: CallSetup, agent: ScriptedAgent) {
    const { clock, logger, transcript, speechToText } = deps;
    this.#deps = deps;
    this.#setup = setup;
    const ownLimitMs = (agent.maxDurationSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    this.#script = new ScriptMachine({
      agent,
      placeholders: setup.placeholders,
      maxDurationMs: Math.min(setup.maxDurationMs, ownLimitMs),
    });
    this.#words = new CallerWords(transcript, this.#script);
    this.#voice = new AgentVoice(deps, agent, voiceFormatOf(setup.outputFormat ?? setup.format), this);
    const heard = { voice: this.#voice, words: this.#words, listener: this };
    this.hearing = new Hearing({ clock, logger, transcript, speechToText, ...heard });
    this.#tools = new ToolUses({
      callUuid: setup.callUuid,
      definitions: agent.tools ?? [],
      port: deps.tools,
      clock,
      transcript,
      resumed: setup.checkpoint?.tools ?? null,
      hasPage: setup.web !== undefined,
    });
  }

  /** The agent has ended the call, or could not go on: nothing is said or heard any more. */
  get ended(): boolean {
    return this.#ended;
  }

  start(uplink: Uplink): void {
    this.hearing.start(uplink);
    const { checkpoint } = this.#setup;
    this.#tell({ type: 'start', atMs: this.#deps.transcript.nowMs, checkpoint });
    // Before a frame of it was made.
    if (checkpoint?.muted === true) this.#mute();
  }

  /** After the uplink was drained: deadlines, playback, what waits for it. */
  tick(): void {
    if (this.#ended) return;
    const nowMs = this.#deps.clock.nowMs();
    this.hearing.tick(nowMs);
    this.#voice.pump();
    if (this.#held) return;
    if (this.#onceSettled !== 'nothing' && this.#voice.settled) this.#settled();
    const keys = this.#keypad.take(nowMs);
    if (keys !== null) this.#heardKeys(keys);
    if (this.#ended) return;
    this.#tools.tick();
    if (this.#operator.hasTexts) this.#sayQueued();
    this.#encourage();
    if (!this.#operator.speaks && !this.#operator.muted && !this.#encouragement.speaks) {
      this.#tellToolResult(nowMs);
      this.#tickEvent.atMs = this.#deps.transcript.nowMs;
      this.#tell(this.#tickEvent);
    }
    this.#checkpoint();
  }

  pressed(key: string): void {
    if (!this.#ended) this.#keypad.press(key, this.#deps.clock.nowMs());
  }

  toolAnswered(toolCallId: string, answer: ToolAnswer): void {
    if (!this.#ended) this.#tools.answered(toolCallId, answer);
  }

  /** Somebody steers the call from outside. */
  control(action: ControlAction): ControlOutcome {
    if (this.#ended) return controlRefused('ending');
    switch (action.type) {
      case 'say':
        if (this.#operator.muted) return controlRefused('muted');
        if (!this.#operator.queue(action.text)) return controlRefused('queue_full');
        if (action.interrupt) this.#cutForOperator();
        this.#sayQueued();
        return CONTROL_DONE;
      case 'inject':
        if (this.#operator.muted) return controlRefused('muted');
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
    else if (this.#voice.active && this.#voice.interruptible) this.interrupts();
  }

  /** The leg is over: closes what is open with what was heard of it. */
  close(): void {
    this.#voice.silence(false);
    const turn = this.hearing.dropTurn();
    if (turn !== null) {
      const sense = this.#words.sense(turn);
      const heard = sense === 'acknowledge' && turn.duringSpeech ? 'backchannel' : 'speech';
      if (isSpeech(turn, sense)) this.#words.record(turn, sense === 'rejected' ? 'unclear' : heard);
    }
    this.#over();
  }

  // ── What is heard ─────────────────────────────────────────────────────────────────────────────────────

  callerSpeaks(speaking: boolean, streamMs: number): void {
    if (speaking) this.#endEncouragement();
    const { transcript } = this.#deps;
    const phase = speaking ? 'start' : 'end';
    const turnId = transcript.userTurnId;
    transcript.live({ type: 'speech', who: 'user', phase, atMs: transcript.at(streamMs), turnId });
    this.#tell({ type: 'caller', atMs: transcript.nowMs, speaking });
  }

  mayInterrupt(): void {
    if (!this.#voice.active) return;
    this.#voice.pause();
    this.#bargeInEvent('pause');
  }

  interrupts(): void {
    this.hearing.bePatient();
    if (!this.#voice.active) return;
    this.#voice.pause();
    this.#onceSettled = 'commit';
    if (this.#voice.settled) this.#settled();
  }

  letsGoOn(): void {
    this.hearing.bePatient();
    if (!this.hearing.pausedAgent || !this.#voice.active || this.#operator.muted) return;
    this.#onceSettled = 'resume';
    if (this.#voice.settled) this.#settled();
  }

  meant(meaning: Meaning): void {
    this.#endEncouragement();
    if (this.#onceSettled === 'commit') this.#waiting = meaning;
    else if (!this.#voice.active) this.#mean(meaning);
  }

  recogniserLost(error: Error): void {
    this.#finish('stt_error', null, error.message);
  }

  /** The caller's words reach the script. An agent that was cut for them owes an answer, whatever they were. */
  #mean({ turn, sense, anchor }: Meaning): void {
    const atMs = this.#deps.transcript.nowMs;
    const words = this.#words;
    if (this.#operator.muted) {
      if (isSpeech(turn, sense)) words.record(turn, sense === 'phrase' ? 'speech' : 'unclear');
      return;
    }
    this.#anchor = anchor;
    if (sense === 'phrase' || sense === 'other' || sense === 'interrupt') {
      words.record(turn, sense === 'phrase' ? 'speech' : 'unclear');
      this.#tell({ type: 'heard', atMs, text: turn.text });
    } else if (sense === 'hold') {
      words.record(turn, 'speech');
      // Whoever waits for a tool already gives them their moment.
      if (!this.#tools.waiting) this.#tell({ type: 'hold', atMs });
    } else if (sense === 'acknowledge' && turn.duringSpeech && !turn.cutAgent) {
      words.record(turn, 'backchannel');
    } else if (turn.cutAgent || (sense !== 'nothing' && turn.spokenMs >= SHORTEST_SPEECH_MS)) {
      words.record(turn, 'unclear');
      this.#tell({ type: 'unclear', atMs });
    }
    this.#anchor = null;
  }

  /** Typed words mean what they would mean spoken. */
  #heardTyped(text: string, interrupt: boolean): void {
    const { transcript, call } = this.#deps;
    const nowMs = transcript.nowMs;
    this.#endEncouragement();
    this.hearing.dropTurn();
    this.hearing.endInterruption();
    if (this.#voice.active && !(interrupt && this.#voice.interruptible)) {
      this.#typed = this.#typed === null ? text : `${this.#typed} ${text}`;
      return;
    }
    const turn = new CallerTurn(call.streamMs, this.#voice.active, this.hearing);
    turn.text = text;
    turn.done = true;
    turn.decidedAtMs = nowMs;
    transcript.openUserTurn();
    const anchor = { speechEndMs: nowMs, decidedAtMs: nowMs, recognisedAtMs: nowMs };
    const meaning = { turn, sense: this.#words.senseOfTyped(text), anchor };
    if (!this.#voice.active) {
      this.#mean(meaning);
      return;
    }
    this.#waiting = meaning;
    this.interrupts();
  }

  #heardKeys(digits: string): void {
    this.#endEncouragement();
    if (this.#voice.active || this.#operator.muted) return;
    this.#words.recordKeys(digits);
    this.#tell({ type: 'heard', atMs: this.#deps.transcript.nowMs, text: digits });
  }

  // ── What is played ────────────────────────────────────────────────────────────────────────────────────

  utteranceSaid(): void {
    const cut = this.#afterBridge;
    if (cut !== null) {
      this.#afterBridge = null;
      this.#voice.say(cut);
      return;
    }
    if (this.#encouragement.speaks) {
      this.#encouragement.over(this.hearing.nowMs);
      return;
    }
    this.hearing.endInterruption();
    this.hearing.bePatient();
    this.#operator.wordsSaid();
    if (!this.#operator.hasTexts) this.#goOnAfterWords();
    const typed = this.#typed;
    if (typed !== null && !this.#ended && !this.#voice.active) {
      this.#typed = null;
      this.#heardTyped(typed, false);
      return;
    }
    this.hearing.agentFinished();
  }

  /** Into a pause that may be long: a word that leaves the caller's turn open. */
  #encourage(): void {
    const { pause } = this.hearing;
    if (pause === null || this.#voice.active || this.#operator.muted || this.#tools.waiting) return;
    const text = this.#encouragement.wordFor(pause, this.hearing.nowMs);
    if (text === null) return;
    const { stepId } = this.#script;
    this.#voice.say({ text, stepId, interruptible: true, isGreeting: false, anchor: null });
  }

  /** The caller goes on, or their turn is over: whatever the agent says now is an answer. */
  #endEncouragement(): void {
    if (!this.#encouragement.speaks) return;
    this.#encouragement.over(this.hearing.nowMs);
    this.#voice.silence(true);
  }

  voiceLost(error: Error): void {
    this.#finish('tts_error', null, error.message);
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
    const turn = waiting?.turn ?? this.hearing.turn;
    if (turn !== null) turn.cutAgent = true;
    this.#bargeInEvent('commit', this.#voice.heardText);
    this.#cutAgent();
    if (waiting !== null) this.#mean(waiting);
  }

  #cutAgent(): void {
    this.#afterBridge = null;
    this.#encouragement.over(this.hearing.nowMs);
    this.#voice.silence(true);
    this.#operator.wordsCut();
    this.hearing.endInterruption();
    this.#tell({ type: 'interrupted', atMs: this.#deps.transcript.nowMs });
  }

  #hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.hearing.hold(held);
    if (held) {
      if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
      if (this.#onceSettled === 'nothing' && this.#voice.active) this.#voice.pause();
      return;
    }
    // What was to be said next, if anything, is still owed; a commit that waits goes its own way, and a muted agent says nothing.
    if (this.#onceSettled === 'commit' || this.#operator.muted) return;
    if (!this.#voice.active) this.#bridge();
    else if (this.#voice.settled) this.#bridge();
    else this.#onceSettled = 'bridge';
  }

  /** The line is back: a short word, and then what was cut. */
  #bridge(): void {
    this.#endEncouragement();
    const unsaid = this.#voice.active ? this.#voice.unsaid : null;
    if (unsaid !== null) this.#voice.silence(true);
    // A bridge alone is no answer of the script's: it only gives the caller their time anew.
    else this.#operator.speaks = true;
    const { clip, ...said } = unsaid?.utterance ?? { stepId: this.#script.stepId, interruptible: true };
    const isClip = unsaid !== null && clip !== undefined;
    if (isClip) this.#afterBridge = { ...unsaid.utterance, isGreeting: false, anchor: null };
    const text = `${BRIDGE} ${isClip ? '' : (unsaid?.restText ?? '')}`.trim();
    this.#voice.say({ ...said, text, isGreeting: false, anchor: null });
  }

  // ── What an operator asks for ─────────────────────────────────────────────────────────────────────────

  /** When the agent is silent and nobody waits for an answer. */
  #sayQueued(): void {
    if (this.#voice.active || this.#operator.muted || this.#ended) return;
    if (this.hearing.turn !== null || this.#waiting !== null) return;
    const text = this.#operator.nextText();
    if (text === null) return;
    this.#operator.speaks = true;
    this.#voice.say({ text, stepId: null, interruptible: true, isGreeting: false, anchor: null });
  }

  #goOnAfterWords(): void {
    this.#tell({ type: this.#operator.takeOwed(), atMs: this.#deps.transcript.nowMs });
  }

  #cutForOperator(): void {
    if (!this.#voice.active) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#onceSettled = 'nothing';
    if (waiting !== null) this.#words.record(waiting.turn, 'unclear');
    this.#cutAgent();
  }

  #mute(): void {
    if (this.#operator.muted) return;
    this.#operator.muted = true;
    this.#deps.transcript.oweCheckpoint();
    if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
    this.#voice.pause();
  }

  #unmute(): void {
    if (!this.#operator.muted) return;
    this.#operator.muted = false;
    this.#deps.transcript.oweCheckpoint();
    if (!this.#voice.active) this.#tell({ type: 'hold', atMs: this.#deps.transcript.nowMs });
    else if (this.#voice.settled) this.#voice.resume();
    else this.#onceSettled = 'resume';
  }

  // ── What the script makes of it ───────────────────────────────────────────────────────────────────────

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
        transcript.warning(action.code, action.message, action);
        break;
      case 'listen':
        this.#words.listenFor(action);
        this.hearing.bePatient();
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

  #say({ purpose, type: _type, ...said }: Extract<ScriptAction, { type: 'say' }>): void {
    const anchor = this.#anchor ?? this.#owedAnchor;
    this.#owedAnchor = null;
    this.#voice.say({ ...said, isGreeting: purpose === 'greeting', anchor });
    this.hearing.agentSpeaks(said.interruptible);
  }

  /** When nothing is being said, and no turn of the caller waits to be answered. */
  #tellToolResult(nowMs: number): void {
    if (this.#voice.active || this.#waiting !== null) return;
    const answer = this.#tools.take(nowMs, this.hearing.turn !== null);
    if (answer === null) return;
    this.#deps.transcript.oweCheckpoint();
    this.#tell({ type: 'tool', atMs: this.#deps.transcript.nowMs, answer });
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
      ...(this.#operator.muted ? { muted: true as const } : {}),
    });
  }

  #finish(reason: EndedReason, disposition: string | null, error: string | null): void {
    if (this.#ended) return;
    this.#voice.silence(false);
    this.hearing.dropTurn();
    this.#over();
    this.#deps.end(reason, disposition, error);
  }

  #over(): void {
    this.#tools.cancel();
    this.#ended = true;
    this.hearing.close();
    this.#checkpoint();
  }
}
