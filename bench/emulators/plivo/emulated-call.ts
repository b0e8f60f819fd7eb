/**
 * One call's life at the emulated carrier: dialled, ringing, answered, following the gateway's documents, over. Made by
 * the emulator for each accepted placement. Everything it learns goes into the call's truth; everything that goes wrong
 * at the gateway ends the call as it would at the carrier, and never throws.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { CallTruth } from '../call-truth.ts';
import { CallbacksOfCall } from '../callbacks-of-call.ts';
import type { Callee } from '../callees/callee.ts';
import type { EmulatorEventDetail } from '../emulator-event.ts';
import type { FrameClock } from '../frame-clock.ts';
import type { Persona } from '../persona.ts';
import { InvalidDocumentError } from '../xml-document.ts';
import { parseAnswerDocument, type StreamVerb, type Verb } from './answer-document.ts';
import { type CallFacts, type CallStatus, callParams, hangupParams } from './call-params.ts';
import type { CallbackSender } from './callback-sender.ts';
import { HANGUPS, type Hangup, OUTCOMES } from './hangup.ts';
import { type MediaStream, openMediaStream } from './media-stream.ts';
import type { Placement } from './placement.ts';

const MULAW = 'audio/x-mulaw;rate=8000';
/** A gateway that redirects in a circle is stopped. */
const MAX_DOCUMENTS = 20;

export interface CallDeps {
  clock: Clock;
  frameClock: FrameClock;
  sender: CallbackSender;
  accountId: string;
  handshakeTimeoutMs: number;
  newId(): string;
  createCallee(persona: Persona, call: EmulatedCall): Callee;
  tell(call: EmulatedCall, event: EmulatorEventDetail): void;
}

export type DocumentKind = 'answer' | 'transfer' | 'redirect';

export class EmulatedCall {
  readonly callUuid: string;
  readonly requestUuid: string;
  readonly placement: Placement;
  readonly persona: Persona;
  readonly truth: CallTruth;
  readonly #deps: CallDeps;
  readonly #timers = new Set<() => void>();
  /** Settles when the call is over: whatever waits, stops waiting. */
  readonly #over: Promise<void>;
  #settleOver: () => void = () => {};
  readonly #callbacks: CallbacksOfCall;
  #state: 'queued' | 'ringing' | 'in-progress' | 'over' = 'queued';
  #callee: Callee | null = null;
  #stream: MediaStream | null = null;
  #transferUrl: { url: string; method: 'GET' | 'POST' } | null = null;
  #wake: () => void = () => {};

  constructor(
    deps: CallDeps,
    ids: { callUuid: string; requestUuid: string },
    placement: Placement,
    persona: Persona,
    truth: CallTruth,
  ) {
    this.#deps = deps;
    this.callUuid = ids.callUuid;
    this.requestUuid = ids.requestUuid;
    this.placement = placement;
    this.persona = persona;
    this.truth = truth;
    this.#callbacks = new CallbacksOfCall(deps.sender, deps.clock, persona.faults.callbacks, truth);
    this.#over = new Promise((resolve) => {
      this.#settleOver = resolve;
    });
  }

  get state(): 'queued' | 'ringing' | 'in-progress' | 'over' {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  get hasStream(): boolean {
    return this.#stream !== null;
  }

  /** Lives the whole call; resolves when it is over. */
  async live(): Promise<void> {
    const { placement, persona } = this;
    await this.#pause(persona.dialMs);
    const outcome = persona.outcome === 'answer' ? null : OUTCOMES[persona.outcome];
    if (this.isOver) return;
    if (outcome !== null && !outcome.rings) return this.end(outcome.hangup);
    this.#ring();
    this.#after(placement.ringTimeoutSeconds * 1000, () => this.#state === 'ringing' && this.end(HANGUPS.ringTimeout));
    if (placement.hangupOnRingSeconds !== null) {
      this.#after(
        placement.hangupOnRingSeconds * 1000,
        () => this.#state === 'ringing' && this.end(HANGUPS.hangupOnRing),
      );
    }
    if (outcome !== null) {
      await this.#pause(persona.ringMs);
      return this.end(outcome.hangup);
    }
    this.#callee = this.#deps.createCallee(persona, this);
    await Promise.race([this.#over, Promise.all([this.#pause(persona.ringMs), this.#prepareCallee(this.#callee)])]);
    if (this.isOver) return;
    this.#answer();
    await this.#follow(placement.answerUrl, placement.answerMethod);
  }

  async #prepareCallee(callee: Callee): Promise<void> {
    try {
      await callee.prepare();
    } catch (error) {
      this.#tell({ event: 'warning', message: `the callee could not be prepared: ${String(error)}` });
      this.end(OUTCOMES.unreachable.hangup);
    }
  }

  /** Ends the call once; later ends change nothing. */
  end(hangup: Hangup): void {
    if (this.isOver) return;
    const before = this.#state;
    this.#state = 'over';
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#stream?.close();
    this.#callee?.close();
    this.#settleOver();
    this.#wake();
    this.truth.hangup = hangup;
    this.truth.hungUpAtEpochMs = this.truth.nowEpochMs();
    this.#tell({
      event: 'hangup',
      code: hangup.code,
      name: hangup.name,
      source: hangup.source,
      durationMs: before === 'in-progress' ? this.truth.hungUpAtEpochMs - (this.truth.answeredAtEpochMs ?? 0) : 0,
    });
    const { hangupUrl, hangupMethod } = this.placement;
    if (hangupUrl === null) return;
    void this.#callbacks.send(
      'hangup',
      hangupUrl,
      hangupMethod,
      hangupParams(this.#facts(), hangup, this.truth.hungUpAtEpochMs),
    );
  }

  /** `DELETE Call/{uuid}/` and `DELETE Request/{uuid}/`. */
  hangUpByApi(): void {
    this.end(this.#state === 'in-progress' ? HANGUPS.api : HANGUPS.canceled);
  }

  hangUpByCallee(): void {
    this.end(HANGUPS.callee);
  }

  /** `DELETE Call/{uuid}/Stream/`: the document goes on after the stream. */
  stopStream(): void {
    this.#stream?.close();
  }

  /** `POST Call/{uuid}/`: takes effect when the running stream ends, as at the carrier. */
  transfer(url: string, method: 'GET' | 'POST'): void {
    this.#transferUrl = { url, method };
    this.#wake();
  }

  #ring(): void {
    this.#state = 'ringing';
    this.truth.ringingAtEpochMs = this.truth.nowEpochMs();
    this.#tell({ event: 'ringing' });
    const { ringUrl, ringMethod } = this.placement;
    if (ringUrl !== null) void this.#callbacks.send('ring', ringUrl, ringMethod, this.#params('Ring', 'ringing'));
  }

  #answer(): void {
    this.#state = 'in-progress';
    this.truth.answeredAtEpochMs = this.truth.nowEpochMs();
    this.#tell({ event: 'answered' });
    this.#after(this.placement.timeLimitSeconds * 1000, () => this.end(HANGUPS.timeLimit));
    if (this.persona.hangsUpAfterMs !== undefined) {
      this.#after(this.persona.hangsUpAfterMs, () => this.hangUpByCallee());
    }
  }

  async #follow(answerUrl: string, answerMethod: 'GET' | 'POST'): Promise<void> {
    let next: { kind: DocumentKind; url: string; method: 'GET' | 'POST' } | null = {
      kind: 'answer',
      url: answerUrl,
      method: answerMethod,
    };
    for (let documents = 0; next !== null && documents < MAX_DOCUMENTS; documents++) {
      const verbs = await this.#fetchDocument(next.kind, next.url, next.method);
      if (verbs === null || this.isOver) return;
      next = await this.#run(verbs);
      if (this.isOver) return;
    }
    this.end(HANGUPS.endOfXml);
  }

  /** Runs a document's verbs in order. Resolves with the document to go on with, or null at the end of the XML. */
  async #run(verbs: Verb[]): Promise<{ kind: DocumentKind; url: string; method: 'GET' | 'POST' } | null> {
    for (const verb of verbs) {
      if (this.isOver) return null;
      switch (verb.verb) {
        case 'stream':
          await this.#runStream(verb);
          break;
        case 'wait':
          await Promise.race([this.#pause(verb.seconds * 1000), this.#woken()]);
          break;
        case 'hangup':
          this.end(HANGUPS.hangupElement);
          return null;
        case 'redirect':
          return { kind: 'redirect', url: verb.url, method: verb.method };
        case 'speak':
          this.#tell({ event: 'warning', message: `<Speak> is not played: ${verb.text.slice(0, 80)}` });
          break;
        case 'unplayed':
          this.#tell({ event: 'warning', message: `<${verb.name}> is not played` });
          break;
      }
      if (this.#transferUrl !== null) {
        const transfer = this.#transferUrl;
        this.#transferUrl = null;
        return { kind: 'transfer', ...transfer };
      }
    }
    return null;
  }

  /** With `keepCallAlive` the stream runs alone and the next verb waits for its end. */
  #runStream(verb: StreamVerb): Promise<void> {
    const report = (event: string, reason: string): void => {
      if (verb.statusUrl === null) return;
      const params = {
        ...this.#params(event, 'in-progress'),
        StreamID: streamId,
        Timestamp: String(Math.round(this.truth.nowEpochMs())),
        StatusReason: reason,
      };
      void this.#callbacks.send('stream', verb.statusUrl, verb.statusMethod, params);
    };
    const streamId = this.#deps.newId();
    if (verb.contentType !== MULAW || !verb.bidirectional) {
      this.#tell({
        event: 'warning',
        message: `the emulator plays bidirectional ${MULAW} only, not ${verb.contentType}`,
      });
      report('failed', 'invalid_content_type');
      return Promise.resolve();
    }
    return new Promise<void>((resolve) => {
      const stream = openMediaStream({
        url: verb.url,
        streamId,
        callUuid: this.callUuid,
        accountId: this.#deps.accountId,
        extraHeaders: verb.extraHeaders,
        handshakeTimeoutMs: this.#deps.handshakeTimeoutMs,
        clock: this.#deps.clock,
        frameClock: this.#deps.frameClock,
        sender: this.#deps.sender,
        callee: this.#callee!,
        truth: this.truth,
        faults: this.persona.faults.media,
        onOpen: () => {
          this.#tell({ event: 'stream_open' });
          report('StartStream', '');
        },
        onClosed: (failure) => {
          if (this.#stream === stream) this.#stream = null;
          if (failure === null) report('StopStream', '');
          else {
            this.#tell({
              event: 'warning',
              message: `the stream could not be opened: ${this.truth.refusedUpgrades.join(', ')}`,
            });
            report('failed', failure);
          }
          resolve();
        },
        tell: (event) => this.#tell(event),
      });
      this.#stream = stream;
      this.#after(verb.streamTimeoutSeconds * 1000, () => stream.close());
      if (!verb.keepCallAlive) resolve();
    });
  }

  /** Null when there was none to be had; the call is then over. */
  async #fetchDocument(kind: DocumentKind, url: string, method: 'GET' | 'POST'): Promise<Verb[] | null> {
    const event = { answer: 'StartApp', transfer: 'Transfer', redirect: 'Redirect' }[kind];
    const unreachable = { answer: HANGUPS.answerUrl, transfer: HANGUPS.transferUrl, redirect: HANGUPS.redirectUrl }[
      kind
    ];
    const invalid = { answer: HANGUPS.answerXml, transfer: HANGUPS.transferXml, redirect: HANGUPS.redirectXml }[kind];
    const params = this.#params(event, 'in-progress');
    let answer = await this.#callbacks.send('answer', url, method, params);
    const { fallbackUrl, fallbackMethod } = this.placement;
    if (answer?.status !== 200 && kind === 'answer' && fallbackUrl !== null && !this.isOver) {
      answer = await this.#callbacks.send('answer', fallbackUrl, fallbackMethod, params);
    }
    if (this.isOver) return null;
    if (answer?.status !== 200) {
      this.end(unreachable);
      return null;
    }
    try {
      if (!/^(application|text)\/xml\b/i.test(answer.contentType)) {
        throw new InvalidDocumentError(`content type "${answer.contentType}"`);
      }
      return parseAnswerDocument(answer.body);
    } catch (error) {
      this.#tell({
        event: 'warning',
        message: `${kind} document: ${error instanceof Error ? error.message : String(error)}`,
      });
      this.end(invalid);
      return null;
    }
  }

  #facts(): CallFacts {
    return {
      callUuid: this.callUuid,
      requestUuid: this.requestUuid,
      from: this.placement.from,
      to: this.placement.to,
      accountId: this.#deps.accountId,
      placedAtEpochMs: this.truth.placedAtEpochMs,
      answeredAtEpochMs: this.truth.answeredAtEpochMs,
    };
  }

  #params(event: string, status: CallStatus): Record<string, string> {
    return callParams(this.#facts(), event, status);
  }

  #tell(event: EmulatorEventDetail): void {
    this.#deps.tell(this, event);
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Resolves after so long, or at once when the call is over. */
  #pause(ms: number): Promise<void> {
    return Promise.race([this.#over, new Promise<void>((resolve) => this.#after(ms, resolve))]);
  }

  /** A timer that ends with the call. */
  #after(ms: number, run: () => void): void {
    if (this.isOver) return;
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }
}
