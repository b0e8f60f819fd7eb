/**
 * An agent in some seventy lines: it says back what it hears, word by word as a language model would, looks an order up
 * when it hears "find", and remembers how often it has answered. It stands for agents that nobody has written yet.
 */
import type {
  Agent,
  AgentContext,
  AgentEvent,
  AgentKind,
  SaidWords,
  WordSense,
} from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { TextFeed } from '../../../../media/contract/speech-source.ts';

const WORD_EVERY_MS = 150;
const OPENING = 'This is an echo, say something that I can say back.';

export const echoKind: AgentKind<ScriptedAgent> = {
  kind: 'echo',
  traits: { isSteerable: true },
  stateVersion: 1,
  readsVersions: [1],
  create: (context) => new Echo(context),
  opening: () => ({ text: OPENING }),
  engines: ({ voice }) => ({
    ear: { engine: 'local' },
    voice: { engine: 'local', name: voice },
    voiceActivity: 'gate',
  }),
  fixedTexts: () => [OPENING],
};

export class Echo implements Agent {
  readonly stepId = null;
  readonly patience = { minMs: 300, maxMs: 1_120 };
  answers = 0;
  readonly #context: AgentContext<ScriptedAgent>;

  constructor(context: AgentContext<ScriptedAgent>) {
    this.#context = context;
  }

  handle(event: AgentEvent): void {
    const { sink, maxDurationMs } = this.#context;
    if (event.type === 'start') {
      this.answers = (event.state as { answers: number } | null)?.answers ?? 0;
      if (event.isResumed) this.answer('I was away, go on.');
      else sink.act({ type: 'say', speech: { text: OPENING, isOpening: true }, stepId: null, interruptible: true });
    } else if (event.type === 'heard' && event.text === 'find') {
      sink.act({ type: 'tool', ref: 'find', name: 'lookup_order', arguments: { order: '42' } });
    } else if (event.type === 'heard') this.answer(`You said ${event.text}. Is that right?`);
    else if (event.type === 'unclear') this.answer('Say that again.');
    else if (event.type === 'tool') this.answer(event.result.ok ? 'I have found it.' : 'I have not found it.');
    else if (event.type === 'tick' && event.atMs >= maxDurationMs) {
      sink.act({ type: 'end', reason: 'max_duration_reached', disposition: null, error: null });
    }
  }

  answer(text: string): void {
    const { sink } = this.#context;
    this.answers++;
    const feed = new TextFeed();
    const words = text.match(/\S+\s*/g) ?? [];
    const next = (): void => {
      const word = words.shift();
      if (word === undefined) feed.finish();
      else {
        feed.push(word);
        sink.after(WORD_EVERY_MS, next);
      }
    };
    sink.after(WORD_EVERY_MS, next);
    sink.act({ type: 'say', speech: { feed }, stepId: null, interruptible: true, isReply: true });
  }

  hints = () => ({ phrases: [] });
  sense = ({ text, rejected }: SaidWords): WordSense =>
    rejected ? 'rejected' : text === '' ? 'nothing' : text === 'okay' ? 'acknowledge' : 'answer';
  intentOf = () => null;
  state = (): unknown => ({ answers: this.answers });
  variables = () => ({});
  close(): void {}
}
