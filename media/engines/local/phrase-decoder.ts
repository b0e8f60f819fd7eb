/**
 * One decoder: listens to one utterance at a time for the phrases of one grammar. Called by the pool and the listen scheduler; each
 * call blocks for about 4 % of the time of the audio handed in. Nothing of one utterance reaches the next, so any call may use any decoder.
 * No files: the dictionary begins empty and grows by the words of the grammars, and the noise tracker is turned off in the settings.
 */
import type { CompiledGrammar } from './grammar.ts';
import { isRejected, rejectionArcs, SOUNDS, soundsAroundArcs, soundWord, withoutSounds } from './rejection.ts';
import type { RawDecoder, SoundswallowerModule } from './soundswallower-module.ts';

export type DecoderRateHz = 8000 | 16000;

export interface Hypothesis {
  text: string;
  rejected: boolean;
}

/** Log probabilities in the decoder are whole powers of this. */
const LOG_BASE = 1.0001;
const NOTHING: Hypothesis = { text: '', rejected: false };
const REJECTED: Hypothesis = { text: '', rejected: true };

export interface PhraseDecoder {
  /** Key of the grammar that is loaded; `''` before the first. */
  readonly grammarKey: string;
  begin(grammar: CompiledGrammar): void;
  /** Mono PCM at the decoder's rate; the array is not kept. */
  push(monoSamples: Int16Array): void;
  /** Best guess so far; its words may be the beginning of a phrase. */
  partial(): Hypothesis;
  /** Ends the utterance: a whole phrase, a rejection, or nothing when nothing was said. */
  finish(): Hypothesis;
  /** Ends the utterance and forgets it. */
  abandon(): void;
}

/** 20 to 50 ms and 7 MB. Rejects when the packaged model cannot be read. */
export async function createPhraseDecoder(module: SoundswallowerModule, rateHz: DecoderRateHz): Promise<PhraseDecoder> {
  class QuietDecoder extends module.Decoder {
    /** The package reads its feature settings from a file here, over the configuration. */
    override async init_featparams(): Promise<unknown> {
      const settings = await super.init_featparams();
      this.set_config('remove_noise', 0);
      return settings;
    }
  }
  const raw = new QuietDecoder({
    samprate: rateHz,
    nfft: rateHz === 8000 ? 256 : 512,
    loglevel: 'FATAL',
    // No such file: then the package begins with no word at all.
    dict: '/dev/null/none',
    // The price of a word is in the grammar's arcs, and it is 0.
    wip: 1,
    pip: 1,
  });
  await raw.initialize();
  return new SoundswallowerDecoder(module, raw);
}

class SoundswallowerDecoder implements PhraseDecoder {
  grammarKey = '';
  readonly #module: SoundswallowerModule;
  readonly #raw: RawDecoder;
  readonly #knownWords = new Set<string>();
  #floats = new Float32Array(0);
  #heard = false;
  #anywhere = false;

  constructor(module: SoundswallowerModule, raw: RawDecoder) {
    this.#module = module;
    this.#raw = raw;
    raw.add_words(...SOUNDS.map((sound): [string, string] => [soundWord(sound), sound]));
  }

  begin(grammar: CompiledGrammar): void {
    if (grammar.key !== this.grammarKey) this.#load(grammar);
    this.#forgetVoice();
    this.#raw.start();
    this.#heard = false;
    this.#anywhere = grammar.anywhere;
  }

  push(monoSamples: Int16Array): void {
    if (this.#floats.length < monoSamples.length) this.#floats = new Float32Array(monoSamples.length);
    const floats = this.#floats.subarray(0, monoSamples.length);
    for (let i = 0; i < floats.length; i++) floats[i] = monoSamples[i]! / 32768;
    this.#raw.process_audio(floats, false, false);
  }

  partial(): Hypothesis {
    const words = this.#raw.get_text();
    if (words === '') return NOTHING;
    this.#heard = true;
    return this.#meaningOf(words);
  }

  finish(): Hypothesis {
    this.#raw.stop();
    const words = this.#raw.get_text();
    // Words were heard, but the utterance ends inside every phrase that begins so.
    if (words === '') return this.#heard ? REJECTED : NOTHING;
    return this.#meaningOf(words);
  }

  abandon(): void {
    this.#raw.stop();
  }

  #meaningOf(words: string): Hypothesis {
    const text = this.#anywhere ? withoutSounds(words) : words;
    return text === '' || isRejected(text) ? REJECTED : { text, rejected: false };
  }

  /** A new front end: the mean of the last utterances' spectra (another caller's voice and line) would be taken off this one's. */
  #forgetVoice(): void {
    const module = this.#module;
    const frontEnd = module._decoder_init_fe(this.#raw.cdecoder);
    const features = module._decoder_init_feat_s3file(this.#raw.cdecoder, 0);
    if (module._acmod_reinit_feat(this.#raw.cacmod, frontEnd, features) < 0)
      throw new Error('soundswallower: no new front end');
  }

  #load(grammar: CompiledGrammar): void {
    const module = this.#module;
    const decoder = this.#raw.cdecoder;
    this.#learn(grammar.words);
    // Should anything below throw, no grammar is loaded.
    this.grammarKey = '';
    const name = this.#cString('phrases');
    const graph = module._fsg_model_init(name, module._decoder_logmath(decoder), 1, grammar.states + 1);
    module._free(name);
    const ids = new Map<string, number>();
    const add = (from: number, to: number, word: string, nats: number): void => {
      let id = ids.get(word);
      if (id === undefined) {
        const text = this.#cString(word);
        id = module._fsg_model_word_add(graph, text);
        module._free(text);
        ids.set(word, id);
      }
      module._fsg_model_trans_add(graph, from, to, Math.round(-nats / Math.log(LOG_BASE)), id);
    };
    for (const arc of grammar.arcs) add(arc.from, arc.to, arc.word, 0);
    for (const arc of grammar.anywhere ? soundsAroundArcs() : rejectionArcs(grammar.states))
      add(arc.from, arc.to, arc.word, arc.nats);
    module._fsg_set_states(graph, 0, 1);
    if (module._decoder_set_fsg(decoder, graph) < 0) throw new Error('soundswallower refused the grammar');
    this.grammarKey = grammar.key;
  }

  #learn(words: CompiledGrammar['words']): void {
    const entries: [string, string][] = [];
    for (const [word, pronunciations] of words) {
      if (this.#knownWords.has(word)) continue;
      this.#knownWords.add(word);
      pronunciations.forEach((sounds, i) => {
        entries.push([i === 0 ? word : `${word}(${i + 1})`, sounds]);
      });
    }
    if (entries.length > 0) this.#raw.add_words(...entries);
  }

  #cString(text: string): number {
    const pointer = this.#module._malloc(text.length + 1);
    const heap = this.#module.HEAP8;
    for (let i = 0; i < text.length; i++) heap[pointer + i] = text.charCodeAt(i);
    heap[pointer + text.length] = 0;
    return pointer;
  }
}
