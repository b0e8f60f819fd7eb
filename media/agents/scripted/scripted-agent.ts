/**
 * The scripted agent behind the agent port: the script machine decides what comes next, and its grammar, with lists of
 * words that mean the same on every step, decides what words mean. Made for each call by `scriptedKind.create`; the
 * call tells it events and carries its actions out.
 */
import type {
  Agent,
  AgentContext,
  AgentEvent,
  AgentKind,
  Patience,
  SaidWords,
  WordSense,
} from '../../contract/agent.ts';
import type { Expectation, ScriptedAgent } from '../../contract/agent-definition.ts';
import type { EarHints } from '../../contract/ear.ts';
import { patienceFor } from '../words/patience.ts';
import { ENGLISH } from '../words/word-lists.ts';
import { type Listening, WordSorter } from '../words/word-sense.ts';
import { fixedTexts } from './fixed-texts.ts';
import { PhraseBook } from './phrase-match.ts';
import { ScriptLines } from './script-lines.ts';
import { ScriptMachine } from './script-machine.ts';
import type { ScriptAction, ScriptEvent, ScriptState } from './script-types.ts';
import { saysNothing } from './step-reading.ts';

/** Its variables lie beside it in the checkpoint, where others read them. */
type KeptState = Omit<ScriptState, 'variables'>;
/** Of a call whose checkpoint was lost: it goes on after the greeting. */
const NOTHING_KEPT: KeptState = Object.freeze({ stepId: null, misses: 0, visits: {} });
/** A script uses one tool at a time. */
const THE_TOOL = 'tool';

export const scriptedKind: AgentKind<ScriptedAgent> = {
  kind: 'scripted',
  traits: { isSteerable: true },
  stateVersion: 1,
  readsVersions: [1],
  create: (context) => new ScriptedConversant(context),
  opening(definition, placeholders) {
    const line = ScriptLines.greetingOf(definition, placeholders);
    return saysNothing(line) ? null : line;
  },
  engines: ({ voice, voiceActivity = 'gate' }) => ({
    ear: { engine: 'local' },
    voice: { engine: 'local', name: voice },
    voiceActivity,
  }),
  fixedTexts,
};

class ScriptedConversant implements Agent {
  readonly #context: AgentContext<ScriptedAgent>;
  readonly #script: ScriptMachine;
  readonly #sorter = new WordSorter(ENGLISH);
  #listening: Listening = { book: new PhraseBook([]), asked: false, greeting: false };
  #expect: Expectation = 'open';

  constructor(context: AgentContext<ScriptedAgent>) {
    const { definition: agent, placeholders, maxDurationMs } = context;
    this.#context = context;
    this.#script = new ScriptMachine({ agent, placeholders, maxDurationMs });
  }

  get stepId(): string | null {
    return this.#script.stepId;
  }

  /** With what was asked last. */
  get patience(): Patience {
    return patienceFor(this.#expect);
  }

  handle(event: AgentEvent): void {
    if (event.type === 'handed_back') this.#askAgain(event.atMs);
    const told = scriptEventOf(event);
    if (told === null) return;
    const actions = this.#script.handle(told);
    for (let i = 0; i < actions.length; i++) this.#act(actions[i]!);
  }

  hints(agentSpeaks: boolean): EarHints {
    return { phrases: this.#sorter.phrasesFor(this.#listening, agentSpeaks) };
  }

  /** Nobody murmurs on a keyboard: typed words, and keys, are always meant for the agent. */
  sense({ text, rejected, how }: SaidWords): WordSense {
    if (how !== 'spoken') return this.#script.match(text) === null ? 'other' : 'answer';
    return this.#sorter.sense(text, rejected, this.#listening);
  }

  intentOf(text: string): string | null {
    return this.#script.match(text)?.reply.intent ?? null;
  }

  /** A script knows nothing of what others have said: it asks what it stands at. */
  #askAgain(atMs: number): void {
    for (const action of this.#script.goTo(this.#script.stepId ?? this.#script.firstStepId, atMs)) this.#act(action);
  }

  /** The id of the step to go to: a script has no other words for what to do. */
  instruct(text: string, atMs: number): boolean {
    const actions = this.#script.goTo(text.trim(), atMs);
    for (const action of actions) this.#act(action);
    return actions.length > 0;
  }

  state(): KeptState {
    const { variables: _, ...kept } = this.#script.snapshot();
    return kept;
  }

  variables(): Readonly<Record<string, string>> {
    return { ...this.#script.variables };
  }

  close(): void {}

  #act(action: ScriptAction): void {
    const { sink } = this.#context;
    switch (action.type) {
      case 'listen':
        this.#listening = { book: action.book, asked: action.asked, greeting: action.stepId === null };
        this.#expect = action.expect;
        sink.act({ type: 'listen' });
        break;
      case 'say': {
        const { type, purpose, stepId, interruptible, ...said } = action;
        sink.act({ type, speech: { ...said, isOpening: purpose === 'greeting' }, stepId, interruptible });
        break;
      }
      case 'tool':
        sink.act({ ...action, ref: THE_TOOL });
        break;
      default:
        sink.act(action);
    }
  }
}

/** Null: a script has no use for it. */
function scriptEventOf(event: AgentEvent): ScriptEvent | null {
  const { atMs } = event;
  switch (event.type) {
    case 'start': {
      if (!event.isResumed) return { type: 'start', atMs, checkpoint: null };
      const kept = (event.state as KeptState | null) ?? NOTHING_KEPT;
      return { type: 'start', atMs, checkpoint: { ...kept, variables: { ...event.variables } } };
    }
    case 'cut':
      return { type: 'interrupted', atMs };
    case 'wait':
      return { type: 'hold', atMs };
    case 'tool':
      return { type: 'tool', atMs, answer: event.result };
    case 'tick':
    case 'said':
    case 'heard':
    case 'unclear':
    case 'caller':
      return event;
    default:
      return null;
  }
}
