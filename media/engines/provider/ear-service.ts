/**
 * Ears of one engine in a provider thread: opened when the phone rings or the call begins, heard by the line of the
 * call, and kept a little for its successor when the line's pipeline thread dies. Made once a thread and engine.
 */
import type { EarListener } from '../../contract/ear.ts';
import type { EarOpening, EarOrder, EarReport, OpenProviderEar, ProviderEar } from './provider-ear.ts';
import { withoutSecrets } from './provider-error.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from './provider-service.ts';

/** A pipeline thread's successor is there before. */
const SUCCESSOR_WITHIN_MS = 5_000;

export function createEarService(open: OpenProviderEar): (deps: ServiceDeps) => ProviderService {
  return (deps) => {
    /** By call, connection and how it is used. */
    const ears = new Map<string, KeptEar>();
    return (line, body) => {
      const opening = body as EarOpening;
      const { callUuid, pool, settings } = line;
      const key = JSON.stringify([callUuid, pool, settings, opening.codec, opening.rateHz]);
      const ear = ears.get(key) ?? new KeptEar(line, opening, open, deps, () => ears.delete(key));
      ears.set(key, ear);
      return new EarLine(line, ear);
    };
  };
}

class EarLine implements LineHandler {
  readonly #ear: KeptEar;
  readonly line: ServiceLine;

  constructor(line: ServiceLine, ear: KeptEar) {
    this.line = line;
    this.#ear = ear;
    ear.takenBy(this);
  }

  heard(body: unknown): void {
    const order = body as EarOrder;
    if (!this.#ear.isOf(this)) return;
    if (order.type === 'bye') this.#ear.close();
    else apply(this.#ear.ear, order);
  }

  closed(isWithdrawn: boolean): void {
    if (!this.#ear.isOf(this)) return;
    if (isWithdrawn) this.#ear.close();
    else this.#ear.left();
  }

  report(report: EarReport): void {
    this.line.say(report);
  }
}

class KeptEar implements EarListener {
  readonly ear: ProviderEar;
  readonly #deps: ServiceDeps;
  readonly #gone: () => void;
  #line: EarLine | null = null;
  #cancelWait: () => void = () => {};
  #deaf: Error | null = null;
  #isClosed = false;

  constructor(line: ServiceLine, opening: EarOpening, open: OpenProviderEar, deps: ServiceDeps, gone: () => void) {
    const { grant, settings } = line;
    const { codec, rateHz } = opening;
    this.#deps = deps;
    this.#gone = gone;
    const used = (model: string, quantity: number): void =>
      line.used(model, [{ unit: 'listen_seconds', quantity, speculative: false }]);
    this.ear = open({ grant, settings, codec, rateHz, used }, deps, this);
  }

  isOf(line: EarLine): boolean {
    return this.#line === line;
  }

  /** The newest line has it; one that waited while the phone rang is over. */
  takenBy(line: EarLine): void {
    this.#cancelWait();
    const before = this.#line;
    this.#line = line;
    before?.line.end();
    // Known before anybody listened, or before a successor did.
    if (this.#deaf !== null) line.report({ type: 'deaf', message: this.#deaf.message });
  }

  left(): void {
    this.#line = null;
    this.ear.turnDropped();
    this.#cancelWait = this.#deps.clock.after(SUCCESSOR_WITHIN_MS, () => this.close());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelWait();
    this.#line = null;
    this.ear.close();
    this.#gone();
  }

  words: EarListener['words'] = (words) => this.#line?.report({ type: 'words', words });

  speechBegan(onsetMs: number): void {
    this.#line?.report({ type: 'speech', onsetMs });
  }

  failed(turn: number, error: Error): void {
    const line = this.#line;
    line?.report({ type: 'failed', turn, message: withoutSecrets(error.message, line.line.grant) });
  }

  deaf(error: Error): void {
    this.#deaf = error;
    this.#line?.report({ type: 'deaf', message: error.message });
  }
}

function apply(ear: ProviderEar, order: EarOrder): void {
  switch (order.type) {
    case 'sound':
      ear.push(order.sound, order.atMs);
      break;
    case 'hint':
      ear.hint(order.hints);
      break;
    case 'began':
      ear.turnBegan(order.turn, order.onsetMs);
      break;
    case 'pause':
      ear.mayBeOver();
      break;
    case 'wentOn':
      ear.wentOn();
      break;
    case 'over':
      ear.turnOver();
      break;
    case 'dropped':
      ear.turnDropped();
  }
}
