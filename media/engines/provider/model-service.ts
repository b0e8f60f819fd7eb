/**
 * A language model of any protocol (`ModelWire`), in a provider thread: one line a request, whose opening is a
 * `ModelRequest` and which says `ModelChunk`s. Streams, tells tools, counts tokens, gives up in time. Never asks twice,
 * but for a kept connection that had gone and for a form that the server does not know.
 */
import type { ModelChunk, ModelRequest, ProviderFault } from '../../contract/model.ts';
import type { StreamFailure } from '../../net/guarded-stream.ts';
import { faultOfStatus } from './answer-fault.ts';
import { EventStream } from './event-stream.ts';
import { AnswerFault, type ModelWire, type StreamedAnswer } from './model-wire.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from './provider-service.ts';

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

export function modelService<Settings extends { model: string }, Form>(
  wire: ModelWire<Settings, Form>,
): (deps: ServiceDeps) => ProviderService {
  return (deps) => {
    /** By connection and model. */
    const forms = new Map<string, Form>();
    return (line, body) => new Asking(wire, deps, line, body as ModelRequest, forms);
  };
}

class Asking<Settings extends { model: string }, Form> implements LineHandler {
  readonly #wire: ModelWire<Settings, Form>;
  readonly #deps: ServiceDeps;
  readonly #line: ServiceLine;
  readonly #request: ModelRequest;
  readonly #settings: Settings;
  readonly #forms: Map<string, Form>;
  readonly #formKey: string;
  #form: Form;
  /** Forms in which it was asked. */
  readonly #tried = new Set<string>();
  readonly #answer: StreamedAnswer;
  #callOff = (): void => {};
  #cancelLimit = (): void => {};
  readonly #cancelTotal: () => void;
  #hasRetried = false;
  /** Ms of the whole request that it was taken. */
  #isTaken = false;
  #isOver = false;

  constructor(
    wire: ModelWire<Settings, Form>,
    deps: ServiceDeps,
    line: ServiceLine,
    request: ModelRequest,
    forms: Map<string, Form>,
  ) {
    this.#wire = wire;
    this.#deps = deps;
    this.#line = line;
    this.#request = request;
    this.#settings = line.settings as unknown as Settings;
    this.#answer = wire.answer((chunk) => this.#say(chunk), this.#settings);
    this.#forms = forms;
    this.#formKey = `${line.pool} ${this.#settings.model}`;
    this.#form = forms.get(this.#formKey) ?? wire.firstForm(line.grant, this.#settings);
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
      inputTokens: Math.ceil(this.#promptChars() / CHARS_A_TOKEN),
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
        url: this.#wire.url(grant, this.#settings),
        method: 'POST',
        headers: this.#wire.headers(grant),
        body: Buffer.from(JSON.stringify(this.#body())),
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
        const coding = String(headers['content-encoding'] ?? 'identity');
        if (!/event-stream/i.test(type))
          this.#fail('failed', `the answer is no stream of events (${type.slice(0, 60)})`);
        else if (!/^identity$/i.test(coding))
          this.#fail('failed', `the answer is packed (${coding.slice(0, 60)}), which nobody asked for`);
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
    else if (isDone || usage !== null || !this.#wire.tellsUsage(this.#form)) this.#done();
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
    const isOfForm = status === 400 || status === 422;
    const form = isOfForm ? this.#wire.otherForm(this.#form, body) : null;
    // A form that was tried is not tried again: some servers quote all that they were sent, whatever they refuse.
    if (form !== null && !this.#tried.has(JSON.stringify(form))) {
      this.#callOff();
      this.#form = form;
      if (this.#forms.size >= MOST_FORMS) this.#forms.clear();
      this.#forms.set(this.#formKey, form);
      this.#ask();
      return;
    }
    // A limit, or a bad day, says nothing of the form.
    if (isOfForm) this.#forms.delete(this.#formKey);
    this.#fail(...faultOfStatus(status, body));
  }

  #broke({ kind, reason, isTimeout, isStale }: StreamFailure): void {
    if (this.#isOver) return;
    if (isStale && !this.#hasRetried) {
      this.#hasRetried = true;
      this.#ask();
    } else this.#fail(kind === 'refused' ? 'refused' : isTimeout ? 'timeout' : 'failed', reason);
  }

  #say(chunk: ModelChunk): void {
    if (!this.#isOver) this.#line.say(chunk);
  }

  /** What goes wrong behind the model's last word does not take back what was said: nobody else is to be asked. */
  #fail(fault: ProviderFault, message: string): void {
    if (this.#answer.stop !== null) this.#done();
    else if (this.#finish()) this.#line.end(fault, message);
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

  #body(): Record<string, unknown> {
    return this.#wire.body(this.#request, this.#settings, this.#form);
  }

  /** Of all that the model reads: what was said, and the tools. */
  #promptChars(): number {
    const body = this.#body();
    return this.#wire.promptFields.reduce((sum, name) => sum + JSON.stringify(body[name] ?? []).length, 0);
  }
}
