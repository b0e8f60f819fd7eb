/**
 * Chat completions of any server that speaks OpenAI's protocol, in a provider thread: one line a request, whose opening
 * is a `ModelRequest` and which says `ModelChunk`s. Streams, tells tools, counts tokens, gives up in time. Never asks
 * twice, but for a kept connection that had gone and for a form that the server does not know.
 */
import type { ModelChunk, ModelRequest, ProviderFault } from '../../contract/model.ts';
import type { StreamFailure } from '../../net/guarded-stream.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from '../provider/provider-service.ts';
import { AnswerFault, ChatAnswer } from './chat-answer.ts';
import { faultOfStatus } from './chat-fault.ts';
import {
  type ChatForm,
  type ChatSettings,
  chatBody,
  chatHeaders,
  chatUrl,
  firstFormFor,
  otherForm,
} from './chat-request.ts';
import { EventStream } from './event-stream.ts';

const CONNECT_MS = 3_000;
/** From the request to the first event: agents have asked somebody else long before. */
const FIRST_EVENT_MS = 15_000;
/** Between events. */
const IDLE_MS = 8_000;
const TOTAL_MS = 90_000;
/** What was used follows the model's last word, or never. */
const AFTER_STOP_MS = 500;
const MOST_ERROR_BYTES = 16_384;
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
const MOST_FORMS = 1_000;
/** Of English; of requests that are broken off nobody says what they cost. */
const CHARS_A_TOKEN = 4;

export function createChatService(deps: ServiceDeps): ProviderService {
  /** By connection and model. */
  const forms = new Map<string, ChatForm>();
  return (line, body) => new Asking(deps, line, body as ModelRequest, forms);
}

class Asking implements LineHandler {
  readonly #deps: ServiceDeps;
  readonly #line: ServiceLine;
  readonly #request: ModelRequest;
  readonly #settings: ChatSettings;
  readonly #forms: Map<string, ChatForm>;
  readonly #formKey: string;
  #form: ChatForm;
  /** Forms in which it was asked. */
  readonly #tried = new Set<string>();
  #answer = new ChatAnswer((chunk) => this.#say(chunk));
  #callOff = (): void => {};
  #cancelLimit = (): void => {};
  readonly #cancelTotal: () => void;
  #hasRetried = false;
  /** Ms of the whole request that it was taken. */
  #isTaken = false;
  #isOver = false;

  constructor(deps: ServiceDeps, line: ServiceLine, request: ModelRequest, forms: Map<string, ChatForm>) {
    this.#deps = deps;
    this.#line = line;
    this.#request = request;
    this.#settings = line.settings as unknown as ChatSettings;
    this.#forms = forms;
    this.#formKey = `${line.pool} ${this.#settings.model}`;
    this.#form = forms.get(this.#formKey) ?? firstFormFor(line.grant.baseUrl);
    this.#cancelTotal = deps.clock.after(TOTAL_MS, () => this.#fail('timeout', `the answer took over ${TOTAL_MS} ms`));
    this.#limit(FIRST_EVENT_MS, `nothing came within ${FIRST_EVENT_MS} ms`);
    this.#ask();
  }

  /** Nobody wants it any more: the server is told by its connection, which is closed. */
  closed(): void {
    if (!this.#finish()) return;
    if (!this.#isTaken) return;
    const { chars, usage } = this.#answer;
    const used = usage ?? {
      inputTokens: Math.ceil(promptChars(this.#request, this.#settings, this.#form) / CHARS_A_TOKEN),
      cachedInputTokens: 0,
      outputTokens: Math.ceil(chars / CHARS_A_TOKEN),
    };
    this.#tellUsage(used, true);
  }

  #ask(): void {
    const { grant, pool } = this.#line;
    this.#tried.add(JSON.stringify(this.#form));
    this.#callOff = this.#deps.streams.open(
      {
        url: chatUrl(grant.baseUrl),
        method: 'POST',
        headers: chatHeaders(grant),
        body: Buffer.from(JSON.stringify(chatBody(this.#request, this.#settings, this.#form))),
        pool,
        connectMs: CONNECT_MS,
      },
      this.#listener(),
    );
  }

  #listener() {
    let status = 0;
    let bytes = 0;
    const refusal: Buffer[] = [];
    const events = new EventStream((data) => this.#event(data));
    return {
      began: (answered: number, headers: Readonly<Record<string, unknown>>): void => {
        status = answered;
        if (status < 200 || status >= 300) return;
        this.#isTaken = true;
        const type = String(headers['content-type'] ?? '');
        if (!type.includes('event-stream'))
          this.#fail('failed', `the answer is no stream of events (${type.slice(0, 60)})`);
      },
      data: (chunk: Buffer): void => {
        bytes += chunk.length;
        if (!this.#isTaken) {
          if (bytes <= MOST_ERROR_BYTES) refusal.push(chunk);
          else this.#refused(status, Buffer.concat(refusal).toString('utf8'));
        } else if (bytes > MOST_ANSWER_BYTES) this.#fail('failed', 'the answer never ends');
        else this.#read(() => events.push(chunk));
      },
      ended: (): void => {
        if (this.#isTaken) {
          this.#read(() => events.end());
          this.#ended();
        } else this.#refused(status, Buffer.concat(refusal).toString('utf8'));
      },
      failed: (failure: StreamFailure): void => this.#broke(failure),
    };
  }

  #read(read: () => void): void {
    if (this.#isOver) return;
    try {
      read();
    } catch (error) {
      if (error instanceof AnswerFault) this.#fail(error.fault, error.message);
      else this.#fail('failed', (error as Error).message);
    }
  }

  #event(data: string): void {
    if (this.#isOver) return;
    this.#answer.event(data);
    const { stop, isDone, usage } = this.#answer;
    if (stop === null) this.#limit(IDLE_MS, `nothing more came within ${IDLE_MS} ms`);
    else if (isDone || usage !== null || !this.#form.asksForUsage) this.#done();
    else {
      this.#cancelLimit();
      this.#cancelLimit = this.#deps.clock.after(AFTER_STOP_MS, () => this.#done());
    }
    if (isDone && stop === null) this.#ended();
  }

  #ended(): void {
    if (this.#answer.stop === null) this.#fail('failed', 'the answer broke off');
    else this.#done();
  }

  #done(): void {
    const { stop, usage } = this.#answer;
    // The rest of the answer is let run out, so that its connection can be used again.
    if (stop === null || !this.#finish(false)) return;
    this.#line.say({ type: 'done', stop, usage } satisfies ModelChunk);
    if (usage !== null) this.#tellUsage(usage, false);
    this.#line.end();
    this.#deps.clock.after(AFTER_STOP_MS, this.#callOff);
  }

  #refused(status: number, body: string): void {
    if (this.#isOver) return;
    const form = status === 400 || status === 422 ? otherForm(this.#form, body) : null;
    // A form that was tried is not tried again: some servers quote all that they were sent, whatever they refuse.
    if (form !== null && !this.#tried.has(JSON.stringify(form))) {
      this.#callOff();
      this.#form = form;
      if (this.#forms.size >= MOST_FORMS) this.#forms.clear();
      this.#forms.set(this.#formKey, form);
      this.#ask();
      return;
    }
    this.#forms.delete(this.#formKey);
    this.#fail(...faultOfStatus(status, body));
  }

  #broke({ kind, reason, isTimeout, isStale }: StreamFailure): void {
    if (this.#isOver) return;
    if (isStale && !this.#hasRetried) {
      this.#hasRetried = true;
      this.#ask();
    } else if (this.#answer.stop !== null) this.#done();
    else this.#fail(kind === 'refused' ? 'refused' : isTimeout ? 'timeout' : 'failed', reason);
  }

  #say(chunk: ModelChunk): void {
    if (!this.#isOver) this.#line.say(chunk);
  }

  #fail(fault: ProviderFault, message: string): void {
    if (!this.#finish()) return;
    this.#line.end(fault, message);
  }

  #limit(ms: number, message: string): void {
    this.#cancelLimit();
    this.#cancelLimit = this.#deps.clock.after(ms, () => this.#fail('timeout', message));
  }

  #tellUsage(
    used: { inputTokens: number; cachedInputTokens: number; outputTokens: number },
    speculative: boolean,
  ): void {
    const { inputTokens, cachedInputTokens, outputTokens } = used;
    this.#line.used(this.#settings.model, [
      { unit: 'input_tokens', quantity: inputTokens - cachedInputTokens, speculative },
      { unit: 'cached_input_tokens', quantity: cachedInputTokens, speculative },
      { unit: 'output_tokens', quantity: outputTokens, speculative },
    ]);
  }

  #finish(callsOff = true): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelLimit();
    this.#cancelTotal();
    if (callsOff) this.#callOff();
    return true;
  }
}

/** Of all that the model reads: what was said, and the tools. */
function promptChars(request: ModelRequest, settings: ChatSettings, form: ChatForm): number {
  const { messages, tools = [] } = chatBody(request, settings, form);
  return JSON.stringify(messages).length + JSON.stringify(tools).length;
}
