/**
 * A conversing agent on a virtual clock without a call around it: what it wants said sounds at 60 ms a word, a scripted
 * model answers what it is asked, and both can be made to fail. Checks on the way that nothing of the port is broken.
 */

import { cascadeKind } from '../../../../../media/agents/cascade/cascade-kind.ts';
import type { AgentAction, AgentEvent } from '../../../../../media/contract/agent.ts';
import type { CascadeAgent } from '../../../../../media/contract/agent-definition.ts';
import type { ModelChunk, ModelMessage, ModelRequest } from '../../../../../media/contract/model.ts';
import type { ToolAnswer } from '../../../../../media/contract/tools.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

export const WORD_MS = 60;
const TICK_MS = 20;

export function conversingAgent(change: Partial<CascadeAgent> = {}): CascadeAgent {
  return {
    kind: 'cascade',
    schema: 1,
    name: 'Order desk',
    direction: 'any',
    language: 'en-US',
    script: 'Tell callers where their order is. The caller is {{customer_name}}.',
    firstMessage: 'Hello {{customer_name}}, how can I help you?',
    think: [
      { connection: 'primary', model: 'big' },
      { connection: 'backup', model: 'small' },
    ],
    listen: { engine: 'local' },
    speak: [{ engine: 'local', voice: 'rms' }],
    tools: [{ name: 'lookup_order', description: 'Where an order is.', url: 'https://shop.example.com/order' }],
    ...change,
  };
}

/** What a model gives, and when: each chunk so long after the ask. */
export type Answer = { afterMs: number; chunk: ModelChunk }[];
export type Model = (request: ModelRequest, model: number, asked: number) => Answer;

export const done = (stop: 'end' | 'tools' | 'length' = 'end'): ModelChunk => ({
  type: 'done',
  stop,
  usage: { inputTokens: 100, cachedInputTokens: 0, outputTokens: 10 },
});

export function says(text: string, firstMs = 300, everyMs = 15): Answer {
  const words = text.match(/\S+\s*/g) ?? [];
  const chunks = words.map((word, index) => ({
    afterMs: firstMs + index * everyMs,
    chunk: { type: 'text' as const, text: word },
  }));
  return [...chunks, { afterMs: firstMs + words.length * everyMs, chunk: done() }];
}

export function uses(...named: [name: string, args: unknown][]): Answer {
  const chunks = named.map(([name, args], index) => ({
    afterMs: 300,
    chunk: {
      type: 'use' as const,
      use: { useId: `call_${index}`, name, argumentsText: typeof args === 'string' ? args : JSON.stringify(args) },
    },
  }));
  return [...chunks, { afterMs: 310, chunk: done('tools') }];
}

export const fails = (afterMs: number, fault: 'failed' | 'refused' | 'throttled' = 'failed'): Answer => [
  { afterMs, chunk: { type: 'failed', fault, message: 'it broke' } },
];

export const lastText = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1)!;
  return 'text' in last ? last.text : '';
};

interface Voice {
  action: Extract<AgentAction, { type: 'say' }>;
  playedMs: number;
}

export class AgentBench {
  readonly clock = new VirtualClock();
  readonly actions: AgentAction[] = [];
  readonly asks: { atMs: number; model: number; request: ModelRequest; ref: string }[] = [];
  readonly heardTexts: string[] = [];
  readonly ends: Extract<AgentAction, { type: 'end' }>[] = [];
  readonly agent;
  model: Model;
  tool: (name: string, args: Record<string, unknown>) => { afterMs: number; answer: ToolAnswer } = () => ({
    afterMs: 500,
    answer: { ok: true, status: 200, result: { day: 'Thursday' } },
  });
  /** When something of the agent's last sounded, and from when to when it was silent. */
  soundAtMs = 0;
  isDeaf = false;
  readonly #voices: Voice[] = [];
  /** Heard to their end, and the agent was not told. */
  #saidOwed = 0;
  readonly #live = new Map<string, (() => void)[]>();
  readonly #results: { ref: string; name: string; answer: ToolAnswer }[] = [];
  readonly #due: { atMs: number; run: () => void }[] = [];
  readonly #queue: AgentAction[] = [];
  #depth = 0;

  constructor(
    model: Model,
    change: Partial<CascadeAgent> = {},
    state: unknown = undefined,
    cut?: { text: string; heardText: string },
    customerName = 'Asha',
  ) {
    this.model = model;
    const sink = { act: (action: AgentAction) => void this.#queue.push(action), after: () => () => {} };
    this.agent = cascadeKind.create({
      definition: conversingAgent(change),
      placeholders: { customer_name: customerName },
      maxDurationMs: 600_000,
      legRateHz: 8_000,
      sink,
    });
    const isResumed = state !== undefined;
    this.tell({
      type: 'start',
      atMs: 0,
      isResumed,
      state: state ?? null,
      variables: {},
      ...(cut === undefined ? {} : { cut }),
    });
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  get isSpeaking(): boolean {
    return this.#voices.length > 0;
  }

  /** All that was to be said, in the order in which it was begun. */
  get said(): string[] {
    return this.actions.flatMap((action) => (action.type === 'say' ? [textOf(action)] : []));
  }

  get warnings(): string[] {
    return this.actions.flatMap((action) => (action.type === 'warning' ? [action.code] : []));
  }

  get openAsks(): number {
    return this.#live.size;
  }

  tell(event: AgentEvent): void {
    this.#depth++;
    void this.agent.handle(event);
    this.#depth--;
    if (this.#depth > 0) return;
    for (let action = this.#queue.shift(); action !== undefined; action = this.#queue.shift()) this.#carryOut(action);
  }

  run(ms: number): void {
    for (let passedMs = 0; passedMs < ms && this.ends.length === 0; passedMs += TICK_MS) this.#step();
  }

  runUntil(what: string, isDone: () => boolean, limitMs = 20_000): void {
    for (let passedMs = 0; !isDone(); passedMs += TICK_MS) {
      if (passedMs >= limitMs)
        throw new Error(`${what} did not come within ${limitMs} ms; said: ${JSON.stringify(this.said)}`);
      this.#step();
    }
  }

  /** Until nothing is being said and nothing is asked. */
  settle(limitMs = 20_000): void {
    this.run(100);
    this.runUntil(
      'peace',
      () => this.ends.length > 0 || (!this.isSpeaking && this.#live.size === 0 && this.#due.length === 0),
      limitMs,
    );
    this.run(40);
  }

  /** The caller says it while the agent is silent. */
  hears(text: string): void {
    this.tell({ type: 'caller', atMs: this.nowMs, speaking: true });
    this.tell({ type: 'caller', atMs: this.nowMs, speaking: false });
    this.tell({ type: 'heard', atMs: this.nowMs, text, how: 'spoken' });
  }

  /** The caller cuts it off. */
  interrupts(text: string | null): void {
    const saidBefore = this.#saidOwed;
    const heardText = this.cutNow();
    if (heardText !== null) this.tell({ type: 'cut', atMs: this.nowMs, heardText, saidBefore });
    if (text !== null) this.tell({ type: 'heard', atMs: this.nowMs, text, how: 'spoken' });
  }

  /** Its voice breaks off; nothing waits behind it. */
  breaksOff(): string {
    const index = this.#saidOwed;
    const heardText = this.cutNow() ?? '';
    this.tell({ type: 'said', atMs: this.nowMs, brokeOff: [{ index, heardText }] });
    return heardText;
  }

  cutNow(): string | null {
    const voice = this.#voices[0];
    if (voice === undefined) return null;
    const heardText = heardOf(voice);
    for (const { action } of this.#voices) if ('feed' in action.speech) action.speech.feed.abandon();
    this.#voices.length = 0;
    this.#saidOwed = 0;
    this.heardTexts.push(heardText);
    return heardText;
  }

  /** As the last request told it. */
  get lastMessages(): readonly ModelMessage[] {
    return this.asks.at(-1)!.request.messages;
  }

  #step(): void {
    this.clock.advanceMs(TICK_MS);
    for (const due of this.#due.filter(({ atMs }) => atMs <= this.nowMs)) {
      this.#due.splice(this.#due.indexOf(due), 1);
      due.run();
    }
    this.#play();
    const result = this.isSpeaking || this.isDeaf ? undefined : this.#results.shift();
    if (result !== undefined) {
      const { ref, name, answer } = result;
      this.tell({ type: 'tool', atMs: this.nowMs, ref, result: { ...answer, toolCallId: ref, name, ms: 1 } });
    }
    this.tell({ type: 'tick', atMs: this.nowMs });
  }

  #play(): void {
    const voice = this.#voices[0];
    if (voice === undefined) return;
    const wholeMs = lengthMs(textOf(voice.action));
    if (voice.playedMs < wholeMs) {
      voice.playedMs = Math.min(wholeMs, voice.playedMs + TICK_MS);
      this.soundAtMs = this.nowMs;
    }
    const { speech } = voice.action;
    if (voice.playedMs < wholeMs || ('feed' in speech && !speech.feed.isFinished)) return;
    this.heardTexts.push(textOf(voice.action));
    this.#voices.shift();
    this.#saidOwed++;
    if (this.#voices.length > 0) return;
    this.#saidOwed = 0;
    this.tell({ type: 'said', atMs: this.nowMs });
  }

  #carryOut(action: AgentAction): void {
    if (this.ends.length > 0) throw new Error(`after the end: ${action.type}`);
    this.actions.push(action);
    if (action.type === 'say') this.#voices.push({ action, playedMs: 0 });
    else if (action.type === 'hush') this.cutNow();
    else if (action.type === 'end') this.ends.push(action);
    else if (action.type === 'ask') this.#ask(action);
    else if (action.type === 'unask') this.#live.delete(action.ref);
    else if (action.type === 'tool') {
      const { afterMs, answer } = this.tool(action.name, action.arguments);
      const { ref, name } = action;
      this.#due.push({ atMs: this.nowMs + afterMs, run: () => void this.#results.push({ ref, name, answer }) });
    }
  }

  #ask({ ref, model, request }: Extract<AgentAction, { type: 'ask' }>): void {
    if (this.#live.has(ref)) throw new Error(`the ref ${ref} is in use`);
    if (this.#live.size >= 10) throw new Error('more than ten asks at once');
    checkMessages(request);
    this.#live.set(ref, []);
    this.asks.push({ atMs: this.nowMs, model, request, ref });
    for (const { afterMs, chunk } of this.model(request, model, this.asks.length)) {
      const run = (): void => {
        if (!this.#live.has(ref)) return;
        if (chunk.type === 'done' || chunk.type === 'failed') this.#live.delete(ref);
        this.tell({ type: 'model', atMs: this.nowMs, ref, chunk });
      };
      this.#due.push({ atMs: this.nowMs + afterMs, run });
    }
  }
}

/** What every provider refuses: uses without their results, results without a use, two ids alike. */
export function checkMessages({ messages }: ModelRequest): void {
  const ids = new Set<string>();
  let owed: string[] = [];
  messages.forEach((message, index) => {
    if ((message.role === 'system') !== (index === 0)) throw new Error('the system message is not the first');
    if (message.role === 'tool') {
      if (!owed.includes(message.useId)) throw new Error(`a result without a use: ${message.useId}`);
      owed = owed.filter((id) => id !== message.useId);
      return;
    }
    if (owed.length > 0) throw new Error(`uses without results: ${owed.join()}`);
    if (message.role !== 'assistant') return;
    for (const { useId } of message.toolUses ?? []) {
      if (ids.has(useId)) throw new Error(`an id twice: ${useId}`);
      ids.add(useId);
      owed.push(useId);
    }
    if (message.text === '' && message.toolUses === undefined) throw new Error('an empty message');
  });
  if (owed.length > 0) throw new Error(`uses without results: ${owed.join()}`);
}

function textOf({ speech }: Extract<AgentAction, { type: 'say' }>): string {
  if ('text' in speech) return speech.text;
  if ('feed' in speech) return speech.feed.text;
  return 'audio' in speech ? speech.audio.words.map(({ text }) => text).join('') : '';
}

function lengthMs(text: string): number {
  return (text.match(/\S+/g) ?? []).length * WORD_MS;
}

function heardOf({ action, playedMs }: Voice): string {
  const words = textOf(action).match(/\s*\S+/g) ?? [];
  return words.slice(0, Math.floor(playedMs / WORD_MS)).join('');
}
