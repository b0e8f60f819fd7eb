/**
 * The ear of a call whose engine works in a provider thread, over a line: sound goes over in batches, in the form in
 * which it came; orders behind the sound before them. When the line is over the turn that is under way fails, and the
 * next turn is heard over another, by the thread's successor; one that is refused is told as deafness. Pipeline side.
 */
import type { MessagePort } from 'node:worker_threads';
import type { CallEar, EarCodec, EarHints, EarListener, EarTraits } from '../../contract/ear.ts';
import type { CallUse, OpenEar } from '../../contract/engine-kinds.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { EarOpening, EarOrder, EarReport } from './provider-ear.ts';
import { type ProviderLine, ProviderLines } from './provider-lines.ts';

/** In a turn: longer would be heard as a slower answer, shorter costs messages. */
const BATCH_MS = 60;
/** While nobody speaks: the order that begins a turn sends what there is. */
const QUIET_BATCH_MS = 120;
const FRAME_MS = 20;

/** `service`: by its name in `services.ts`. */
export function remoteEarOf(
  service: string,
  traits: Omit<EarTraits, 'rateHz' | 'codec'>,
): (portNow: () => MessagePort) => OpenEar {
  return (portNow) => {
    const lines = new ProviderLines(portNow, service);
    const open = (rateHz: number, use: CallUse, codec: EarCodec) => (listener: EarListener) =>
      new RemoteEar(lines, use, { ...traits, rateHz, codec }, listener);
    // Its line is over when the call's is opened, or with the call's grants.
    const prepare = (rateHz: number, use: CallUse, codec: EarCodec): void => {
      const opening: EarOpening = { codec, rateHz, isAhead: true };
      lines.open(use, opening, { said() {}, over() {} });
    };
    return Object.assign(open, { prepare });
  };
}

class RemoteEar implements CallEar {
  readonly traits: EarTraits;
  readonly #lines: ProviderLines;
  readonly #use: CallUse;
  readonly #listener: EarListener;
  readonly #bytesPerMs: number;
  readonly #batch: Uint8Array<ArrayBuffer>;
  #filledBytes = 0;
  #batchAtMs = 0;
  #expectedAtMs = 0;
  #line: ProviderLine | null = null;
  /** Why there is none. */
  #lost = '';
  #turn: number | null = null;
  #hints: EarHints | null = null;
  #isClosed = false;

  constructor(lines: ProviderLines, use: CallUse, traits: EarTraits, listener: EarListener) {
    this.#lines = lines;
    this.#use = use;
    this.#listener = listener;
    this.traits = traits;
    this.#bytesPerMs = (traits.rateHz * (traits.codec === 'mulaw' ? 1 : 2)) / 1000;
    this.#batch = new Uint8Array(QUIET_BATCH_MS * this.#bytesPerMs);
    this.#open();
  }

  hint(hints: EarHints): void {
    this.#hints = hints;
    this.#order({ type: 'hint', hints });
  }

  push(monoSamples: Int16Array, atMs: number): void {
    if (!this.#hasRoom(monoSamples.length * 2, atMs)) return;
    let at = this.#filledBytes;
    for (let i = 0; i < monoSamples.length; i++) {
      this.#batch[at++] = monoSamples[i]! & 0xff;
      this.#batch[at++] = (monoSamples[i]! >> 8) & 0xff;
    }
    this.#filled(at);
  }

  pushMulaw(mulawBytes: Uint8Array, atMs: number): void {
    if (!this.#hasRoom(mulawBytes.length, atMs)) return;
    let at = this.#filledBytes;
    for (let i = 0; i < mulawBytes.length; i++) this.#batch[at++] = mulawBytes[i]!;
    this.#filled(at);
  }

  turnBegan(turn: number, onsetMs: number): void {
    if (this.#isClosed) return;
    if (this.#line === null) this.#open();
    this.#turn = turn;
    if (this.#line !== null) this.#order({ type: 'began', turn, onsetMs });
    else queueMicrotask(() => this.#fail(turn, this.#lost));
  }

  mayBeOver(): void {
    this.#order({ type: 'pause' });
  }

  wentOn(): void {
    this.#order({ type: 'wentOn' });
  }

  turnOver(): void {
    this.#order({ type: 'over' });
  }

  turnDropped(): void {
    if (this.#turn === null) return;
    this.#turn = null;
    this.#order({ type: 'dropped' });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#order({ type: 'bye' });
    this.#isClosed = true;
    this.#turn = null;
    this.#line?.close();
    this.#line = null;
  }

  #open(): void {
    const { codec, rateHz } = this.traits;
    const opening: EarOpening = { codec, rateHz, isAhead: false };
    try {
      const line = this.#lines.open(this.#use, opening, {
        said: (body) => this.#said(body as EarReport),
        over: (fault, message) => this.#over(fault, message),
      });
      this.#line = line;
      if (this.#hints !== null) line.say({ type: 'hint', hints: this.#hints } satisfies EarOrder);
    } catch (error) {
      this.#lost = (error as Error).message;
    }
  }

  #said(report: EarReport): void {
    if (this.#isClosed) return;
    if (report.type === 'words') {
      const { words } = report;
      if (words.turn !== this.#turn) return;
      if (words.final) this.#turn = null;
      this.#listener.words(words);
    } else if (report.type === 'speech') this.#listener.speechBegan?.(report.onsetMs);
    else if (report.type === 'deaf') this.#listener.deaf?.(new Error(report.message));
    else this.#fail(report.turn, report.message);
  }

  #over(fault: ProviderFault | null, message: string): void {
    this.#line = null;
    this.#filledBytes = 0;
    this.#lost = message === '' ? 'the provider thread ended' : message;
    if (this.#turn !== null) this.#fail(this.#turn, this.#lost);
    // Asked again it would be refused again.
    const isLasting = fault === 'refused' || fault === 'no_connection';
    if (isLasting && !this.#isClosed) this.#listener.deaf?.(new Error(this.#lost));
  }

  #fail(turn: number, message: string): void {
    if (this.#isClosed || turn !== this.#turn) return;
    this.#turn = null;
    this.#listener.failed(turn, new Error(message));
  }

  #order(order: EarOrder): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#line?.say(order);
  }

  /** A batch holds sound without holes. */
  #hasRoom(bytes: number, atMs: number): boolean {
    if (this.#isClosed || this.#line === null || bytes > this.#batch.length) return false;
    const isNext = atMs === this.#expectedAtMs && this.#filledBytes + bytes <= this.#batch.length;
    if (!isNext) this.#flush();
    if (this.#filledBytes === 0) this.#batchAtMs = atMs;
    this.#expectedAtMs = atMs + FRAME_MS;
    return true;
  }

  #filled(bytes: number): void {
    this.#filledBytes = bytes;
    if (bytes >= (this.#turn === null ? QUIET_BATCH_MS : BATCH_MS) * this.#bytesPerMs) this.#flush();
  }

  #flush(): void {
    if (this.#filledBytes === 0) return;
    const sound = this.#batch.slice(0, this.#filledBytes);
    this.#filledBytes = 0;
    this.#line?.say({ type: 'sound', sound, atMs: this.#batchAtMs } satisfies EarOrder, [sound.buffer]);
  }
}
