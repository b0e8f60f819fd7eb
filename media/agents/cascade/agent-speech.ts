/**
 * What the agent says, on its way to the call: lines of its own, fillers, and the clauses of a model's answer as soon
 * as it may begin. The mouth remembers what was asked for until it was heard. Owned by the agent.
 */
import type { AgentSink } from '../../contract/agent.ts';
import type { SpeechSource } from '../../contract/speech-source.ts';
import type { History } from './history.ts';
import { Mouth, Saying } from './saying.ts';
import { spokenText } from './speakable.ts';

export class AgentSpeech {
  readonly mouth = new Mouth();
  /** What was said last was an idle prompt: the silence before it still counts. */
  isPrompt = false;
  /** Of lists that are said in turn, for the whole call. */
  turns = 0;
  #readied: string | null = null;
  readonly #sink: AgentSink;
  readonly #history: History;
  readonly #language: string;

  constructor(sink: AgentSink, history: History, language: string) {
    this.#sink = sink;
    this.#history = history;
    this.#language = language;
  }

  /** Something of a model's, or of the history's, is on its way. */
  get hasWords(): boolean {
    return this.mouth.sayings.some(({ entry }) => entry !== null);
  }

  /** Words wait to be begun. */
  get waits(): boolean {
    return this.mouth.sayings.some(({ isAsked }) => !isAsked);
  }

  /** Words that no model wrote, in the history like all others. `lead`: before them, and not in the history. */
  line(written: string, { isOpening = false, isPrompt = false, lead = '' } = {}): void {
    const saying = new Saying(this.#history.assistant(written), this.#language, isPrompt);
    if (lead !== '') saying.lead(lead);
    this.#add(saying, written);
    this.isPrompt = isPrompt;
    if (isOpening) this.#say(saying, { text: saying.spoken, isOpening });
  }

  /** At once, and the model is told nothing of it. */
  fixed(text: string): void {
    const saying = new Saying(null, this.#language);
    this.#add(saying, text);
    this.isPrompt = false;
    this.#say(saying, { text: saying.spoken, isFixed: true });
  }

  /** The next of these is likely to be said soon. */
  ready(lines: readonly string[]): void {
    const line = this.coming(lines);
    if (line === '' || line === this.#readied) return;
    this.#readied = line;
    this.#sink.act({ type: 'ready', text: spokenText(line, this.#language) });
  }

  /** The next of a list, in turn; empty: it has none. */
  next(lines: readonly string[]): string {
    const line = this.coming(lines);
    if (line !== '') this.turns++;
    return line;
  }

  /** What `next` would give. */
  coming(lines: readonly string[]): string {
    return lines[this.turns % lines.length] ?? '';
  }

  /** What may be begun is. */
  open(): void {
    for (const saying of [...this.mouth.sayings]) {
      if (saying.isAsked) continue;
      if (saying.hasWords) this.#say(saying, { feed: saying.feed });
      else if (saying.feed.isFinished) {
        saying.heard(0);
        this.mouth.sayings.splice(this.mouth.sayings.indexOf(saying), 1);
      } else break;
    }
  }

  /** Nothing of it is wanted any more. */
  hush(): void {
    this.#sink.act({ type: 'hush' });
    this.mouth.cut('');
  }

  #add(saying: Saying, written: string): void {
    saying.push(written);
    saying.feed.finish();
    this.mouth.sayings.push(saying);
  }

  #say(saying: Saying, speech: Extract<SpeechSource, { text: string } | { feed: unknown }>): void {
    saying.isAsked = true;
    const isReply = 'feed' in speech && !saying.isPrompt ? { isReply: true } : {};
    const ofAsk = saying.ref === undefined ? {} : { ref: saying.ref };
    this.#sink.act({ type: 'say', speech, stepId: null, interruptible: true, ...isReply, ...ofAsk });
  }
}
