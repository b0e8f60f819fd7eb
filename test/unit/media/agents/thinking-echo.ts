/**
 * The echo with a head: it asks a model for each answer, as soon as the caller pauses, keeps what comes until the same
 * words are heard, and throws it away when the caller goes on. It stands for agents that think ahead.
 */
import type { AgentContext, AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { TextFeed } from '../../../../media/contract/speech-source.ts';
import { Echo, echoKind } from './echo-agent.ts';

export const thinkingEchoKind: AgentKind<ScriptedAgent> = {
  ...echoKind,
  create: (context) => new ThinkingEcho(context),
  engines: (definition) => ({ ...echoKind.engines(definition), models: [{ engine: 'fake', connection: 'main' }] }),
};

class ThinkingEcho extends Echo {
  readonly #sink: AgentContext['sink'];
  #asked: { ref: string; about: string; feed: TextFeed } | null = null;
  #asks = 0;

  constructor(context: AgentContext<ScriptedAgent>) {
    super(context);
    this.#sink = context.sink;
  }

  override handle(event: AgentEvent): void {
    if (event.type === 'pause' && event.text !== 'find') this.#think(event.text);
    else if (event.type === 'went_on' || event.type === 'cut' || event.type === 'end') this.#forget();
    else if (event.type === 'model' && event.ref === this.#asked?.ref) {
      if (event.chunk.type === 'text') this.#asked.feed.push(event.chunk.text);
      else this.#asked.feed.finish();
    } else if (event.type === 'heard' && event.text !== 'find') {
      if (this.#asked?.about !== event.text) this.#think(event.text);
      const { feed } = this.#asked!;
      this.answers++;
      this.#sink.act({ type: 'say', speech: { feed }, stepId: null, interruptible: true, isReply: true });
    } else super.handle(event);
  }

  #think(about: string): void {
    this.#forget();
    const ref = `answer-${++this.#asks}`;
    this.#asked = { ref, about, feed: new TextFeed() };
    const request = {
      messages: [{ role: 'user', text: about }],
      tools: [],
      toolChoice: 'none',
      maxTokens: 50,
    } as const;
    this.#sink.act({ type: 'ask', ref, model: 0, request });
  }

  #forget(): void {
    if (this.#asked === null) return;
    this.#sink.act({ type: 'unask', ref: this.#asked.ref });
    this.#asked = null;
  }
}
