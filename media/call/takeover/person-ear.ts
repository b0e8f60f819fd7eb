/**
 * What a person says in the agent's place, in words: an ear of the agent's own recogniser, beside the one that hears
 * the caller. A spurt may be several turns of an ear that ends turns by itself; whatever goes wrong costs words alone.
 * Made by `takeover.ts`.
 */
import { FRAME_MS } from '../../contract/audio-format.ts';
import type { CallEar, EarFactory, EarHints, EarListener, EarWords } from '../../contract/ear.ts';

export class PersonEar implements EarListener {
  readonly #ear: CallEar;
  /** Once a spurt: no more of its words will come. */
  readonly #heard: (spurt: number, text: string) => void;
  readonly #hearsAll: boolean;
  #spurt: number | null = null;
  #turn = 0;
  /** Of the turns of this spurt that are final. */
  #texts: string[] = [];
  #partial = '';
  #isOver = false;
  #isDeaf = false;
  /** Of what it was given. */
  #nowMs = 0;

  constructor(open: EarFactory, hints: EarHints, heard: (spurt: number, text: string) => void) {
    this.#heard = heard;
    this.#ear = open(this);
    this.#ear.hint(hints);
    this.#hearsAll = this.#ear.traits.hears === 'everything';
  }

  /** Each frame, in a spurt or not. */
  frame(monoSamples: Int16Array): void {
    if (this.#hearsAll) this.#push(monoSamples);
  }

  spurtBegan(spurt: number): void {
    if (this.#spurt !== null) this.settle();
    this.#spurt = spurt;
    this.#texts = [];
    this.#partial = '';
    this.#isOver = this.#isDeaf;
    if (this.#isDeaf) this.settle();
    else this.#beginTurn();
  }

  spurtFrame(monoSamples: Int16Array): void {
    if (!this.#hearsAll && !this.#isOver) this.#push(monoSamples);
  }

  spurtOver(): void {
    if (this.#spurt === null) return;
    if (this.#isOver) this.settle();
    else {
      this.#isOver = true;
      this.#ear.turnOver();
    }
  }

  /** What was heard of the spurt counts as all. */
  settle(): void {
    const spurt = this.#spurt;
    if (spurt === null) return;
    this.#spurt = null;
    this.#ear.turnDropped();
    this.#heard(spurt, [...this.#texts, this.#partial].join(' ').trim());
  }

  close(): void {
    this.settle();
    this.#isDeaf = true;
    this.#ear.close();
  }

  // ── What the recogniser makes of it ───────────────────────────────────────────────────────────────────

  words({ turn, text, final }: EarWords): void {
    if (this.#spurt === null || turn !== this.#turn) return;
    this.#partial = text;
    if (!final) return;
    if (text !== '') this.#texts.push(text);
    this.#partial = '';
    if (this.#isOver) this.settle();
    else this.#beginTurn();
  }

  failed(turn: number): void {
    if (this.#spurt === null || turn !== this.#turn) return;
    // Not asked again within the spurt: it might fail each time.
    if (this.#isOver) this.settle();
    else this.#isOver = true;
  }

  deaf(): void {
    this.#isDeaf = true;
    this.settle();
  }

  #beginTurn(): void {
    this.#ear.turnBegan(++this.#turn, this.#nowMs);
  }

  #push(monoSamples: Int16Array): void {
    if (this.#isDeaf) return;
    this.#ear.push(monoSamples, this.#nowMs);
    this.#nowMs += FRAME_MS;
  }
}
