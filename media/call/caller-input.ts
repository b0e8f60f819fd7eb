/**
 * What the caller says reaches the agent: spoken turns by what they mean, typed words, keys. An agent that was cut for
 * words owes them an answer, whatever they were. Called by the conversation.
 */
import type { AgentLine } from './agent-line.ts';
import type { CallerWords } from './caller-words.ts';
import type { Floor } from './floor.ts';
import { CallerTurn } from './hearing/caller-turn.ts';
import type { Hearing } from './hearing/hearing.ts';
import { isSpeech, type Meaning, SHORTEST_SPEECH_MS } from './hearing/meaning.ts';
import { Keypad } from './keypad.ts';
import type { OperatorDesk } from './operator-desk.ts';
import type { ReplyAnchor } from './reply-stages.ts';
import type { CallReporter } from './reporter.ts';
import type { AgentSpeech } from './speaking/agent-speech.ts';
import type { ToolUses } from './tools/tool-uses.ts';

export interface CallerInputDeps {
  reporter: CallReporter;
  words: CallerWords;
  line: AgentLine;
  floor: Floor;
  hearing: Hearing;
  agentSpeech: AgentSpeech;
  operator: OperatorDesk;
  tools: ToolUses;
  /** Audio time. */
  streamMs(): number;
}

export class CallerInput {
  readonly #deps: CallerInputDeps;
  /** Of the turn that the agent is being told, until something is said to it. */
  #anchor: ReplyAnchor | null = null;
  /** Of the last one that it was told and has said nothing to. */
  #lastAnchor: ReplyAnchor | null = null;
  readonly #keypad = new Keypad();
  /** Typed while the agent spoke and was not to be interrupted. */
  #typed: string | null = null;

  constructor(deps: CallerInputDeps) {
    this.#deps = deps;
  }

  /** False: the agent is told nothing of it. */
  mean({ turn, sense, anchor }: Meaning): boolean {
    const { reporter, words, line, operator, tools } = this.#deps;
    const atMs = reporter.nowMs;
    if (operator.muted) {
      if (isSpeech(turn, sense)) words.record(turn, sense === 'answer' ? 'speech' : 'unclear');
      return false;
    }
    this.#anchor = anchor;
    let isTold = true;
    if (sense === 'answer' || sense === 'other' || sense === 'interrupt') {
      words.record(turn, sense === 'answer' ? 'speech' : 'unclear');
      const { text, words: times, confidence } = turn;
      line.tell({
        type: 'heard',
        atMs,
        text,
        how: turn.number === 0 ? 'typed' : 'spoken',
        ...(times === undefined ? {} : { words: times }),
        ...(confidence === undefined ? {} : { confidence }),
      });
    } else if (sense === 'hold') {
      words.record(turn, 'speech');
      // Whoever waits for a tool already gives them their moment.
      isTold = !tools.waiting;
      if (isTold) line.tell({ type: 'wait', atMs, why: 'caller' });
    } else if (sense === 'acknowledge' && turn.duringSpeech && !turn.cutAgent) {
      words.record(turn, 'backchannel');
      isTold = false;
    } else if (turn.cutAgent || (sense !== 'nothing' && turn.spokenMs >= SHORTEST_SPEECH_MS)) {
      words.record(turn, 'unclear');
      line.tell({ type: 'unclear', atMs });
    } else isTold = false;
    if (isTold) this.#lastAnchor = this.#anchor;
    this.#anchor = null;
    return isTold;
  }

  /** Of the turn that the agent is being told; once: what it says next is no answer to it. */
  takeAnchor(): ReplyAnchor | null {
    const anchor = this.#anchor;
    this.#anchor = null;
    return anchor;
  }

  /** Of the turn that an agent answers later than at once; once. */
  takeLastAnchor(): ReplyAnchor | null {
    const anchor = this.#lastAnchor;
    this.#lastAnchor = null;
    return anchor;
  }

  pressed(key: string, nowMs: number): void {
    const { line, reporter, operator } = this.#deps;
    this.#keypad.press(key, nowMs);
    if (!operator.muted) line.tell({ type: 'key', atMs: reporter.nowMs, key });
  }

  /** At each tick: keys that have become an answer. */
  takeKeys(nowMs: number): void {
    const digits = this.#keypad.take(nowMs);
    if (digits === null) return;
    const { floor, agentSpeech, operator, words, line, reporter } = this.#deps;
    floor.endEncouragement();
    if (agentSpeech.active || operator.muted) return;
    words.recordKeys(digits);
    line.tell({ type: 'heard', atMs: reporter.nowMs, text: digits, how: 'keys' });
  }

  /** Typed words mean what they would mean spoken. */
  typed(text: string, interrupt: boolean): void {
    const { reporter, words, floor, hearing, agentSpeech } = this.#deps;
    const nowMs = reporter.nowMs;
    floor.endEncouragement();
    hearing.dropTurn();
    hearing.endInterruption();
    if (agentSpeech.active && !(interrupt && agentSpeech.interruptible)) {
      this.#typed = this.#typed === null ? text : `${this.#typed} ${text}`;
      return;
    }
    const turn = this.#turnOf(text);
    reporter.openUserTurn();
    const anchor = { speechEndMs: nowMs, decidedAtMs: nowMs, recognisedAtMs: nowMs, isTyped: true };
    const meaning = { turn, sense: words.senseOfTyped(text), anchor };
    if (agentSpeech.active) floor.meantAtOnce(meaning);
    else this.mean(meaning);
  }

  /** The agent has finished: what was typed meanwhile is heard now; false: nothing was. */
  takeTyped(): boolean {
    const typed = this.#typed;
    if (typed === null || this.#deps.agentSpeech.active) return false;
    this.#typed = null;
    this.typed(typed, false);
    return true;
  }

  /** The call is over: what was typed meanwhile is heard by nobody, and stands in the transcript. */
  writeTyped(): void {
    if (this.#typed !== null) this.#deps.words.record(this.#turnOf(this.#typed), 'speech');
    this.#typed = null;
  }

  #turnOf(typed: string): CallerTurn {
    const { streamMs, agentSpeech, hearing, reporter } = this.#deps;
    const turn = new CallerTurn(0, streamMs(), agentSpeech.active, hearing);
    turn.text = typed;
    turn.done = true;
    turn.decidedAtMs = reporter.nowMs;
    return turn;
  }
}
