/**
 * Speech of any server that speaks OpenAI's protocol (`POST …/audio/speech`, streamed as raw samples), in a provider
 * thread: one line and one request a text. Gives up in time; asks twice only where a kept connection had gone.
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { StreamFailure } from '../../net/guarded-stream.ts';
import { faultOfStatus } from '../provider/answer-fault.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from '../provider/provider-service.ts';
import type { SpeechOrder, SpeechReport } from '../provider/provider-voice.ts';
import { chatHeaders } from './chat-request.ts';

/** Of the agent. */
export interface OpenAiSpeechSettings extends EngineSettings<'speak', 'openai'> {
  model: string;
}

const CONNECT_MS = 3_000;
const FIRST_SOUND_MS = 3_000;
const IDLE_MS = 3_000;
const MOST_ERROR_BYTES = 16_384;
/** Of 24 kHz: three minutes. */
const MOST_SOUND_BYTES = 180 * 48_000;
/** 100 ms: less is not worth a message. */
const CHUNK_BYTES = 4_800;

export function createSpeechService(deps: ServiceDeps): ProviderService {
  return (line, body) => new Speaking(deps, line, body as SpeechOrder);
}

export function speechUrl({ baseUrl }: ConnectionGrant): string {
  return `${baseUrl.replace(/\/+$/, '')}/audio/speech`;
}

class Speaking implements LineHandler {
  readonly #deps: ServiceDeps;
  readonly #line: ServiceLine;
  readonly #order: SpeechOrder;
  readonly #settings: OpenAiSpeechSettings;
  #callOff: () => void = () => {};
  #cancelLimit: () => void = () => {};
  #hasRetried = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #soundBytes = 0;
  #isTaken = false;
  #isOver = false;

  constructor(deps: ServiceDeps, line: ServiceLine, order: SpeechOrder) {
    this.#deps = deps;
    this.#line = line;
    this.#order = order;
    this.#settings = line.settings as unknown as OpenAiSpeechSettings;
    this.#limit(FIRST_SOUND_MS);
    this.#ask();
  }

  closed(): void {
    this.#finish();
  }

  #ask(): void {
    const { grant, pool } = this.#line;
    const { model, instructions, speed } = this.#settings;
    const { text, voice } = this.#order;
    const body = {
      model,
      input: text,
      voice,
      response_format: 'pcm',
      ...(instructions === undefined ? {} : { instructions }),
      ...(speed === undefined ? {} : { speed }),
    };
    let status = 0;
    let bytes = 0;
    const refusal: Buffer[] = [];
    this.#callOff = this.#deps.streams.open(
      {
        url: speechUrl(grant),
        method: 'POST',
        headers: { ...chatHeaders(grant), accept: 'audio/pcm' },
        body: Buffer.from(JSON.stringify(body)),
        pool,
        connectMs: CONNECT_MS,
      },
      {
        began: (answered, headers) => {
          status = answered;
          this.#isTaken = status >= 200 && status < 300;
          const type = String(headers['content-type'] ?? '');
          // What is not sound is not played, whatever it says of its success.
          if (this.#isTaken && /json|text|html/i.test(type))
            this.#fail('failed', `the answer is no sound (${type.slice(0, 60)})`);
        },
        data: (chunk) => {
          bytes += chunk.length;
          if (this.#isTaken) this.#sound(chunk);
          else if (bytes <= MOST_ERROR_BYTES) refusal.push(chunk);
          else this.#fail(...faultOfStatus(status, Buffer.concat(refusal).toString('utf8')));
        },
        ended: () => {
          if (this.#isTaken) this.#done();
          else this.#fail(...faultOfStatus(status, Buffer.concat(refusal).toString('utf8')));
        },
        failed: (failure) => this.#broke(failure),
      },
    );
  }

  #sound(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#soundBytes += chunk.length;
    if (this.#soundBytes > MOST_SOUND_BYTES) {
      this.#fail('failed', 'the speech never ends');
      return;
    }
    this.#limit(IDLE_MS);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    // What the caller hears first does not wait for more.
    if (this.#waitingBytes >= CHUNK_BYTES || this.#soundBytes === this.#waitingBytes) this.#say();
  }

  /** Samples are not torn apart: an odd byte waits for its other half. The words of the text are the whole sound's. */
  #say(isLast = false): void {
    const all = Buffer.concat(this.#waiting);
    const whole = all.length & ~1;
    this.#waiting = whole === all.length ? [] : [all.subarray(whole)];
    this.#waitingBytes = all.length - whole;
    if (whole === 0 && !isLast) return;
    const sound = Uint8Array.from(all.subarray(0, whole));
    const report: SpeechReport = { sound, isMulaw: false, charStart: 0, charEnd: 0 };
    this.#line.say(report, [sound.buffer]);
  }

  #done(): void {
    if (this.#isOver) return;
    if (this.#soundBytes < 2) {
      this.#fail('failed', 'the server made no sound of the text');
      return;
    }
    this.#say(true);
    if (this.#finish(false)) this.#line.end();
  }

  #broke({ kind, reason, isTimeout, isStale }: StreamFailure): void {
    if (this.#isOver) return;
    if (isStale && !this.#hasRetried) {
      this.#hasRetried = true;
      this.#ask();
    } else this.#fail(kind === 'refused' ? 'refused' : isTimeout ? 'timeout' : 'failed', reason);
  }

  #fail(fault: ProviderFault, message: string): void {
    if (this.#finish()) this.#line.end(fault, message);
  }

  #limit(ms: number): void {
    this.#cancelLimit();
    this.#cancelLimit = this.#deps.clock.after(ms, () => this.#fail('timeout', `no sound came within ${ms} ms`));
  }

  #finish(callsOff = true): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelLimit();
    if (callsOff) this.#callOff();
    if (this.#isTaken)
      this.#line.used(this.#settings.model, [
        { unit: 'characters', quantity: this.#order.text.length, speculative: false },
      ]);
    return true;
  }
}
