/**
 * One decoder: listens to one utterance at a time for the phrases of one grammar. Called by the pool and the listen
 * scheduler; each call blocks for about 4 % of the time of the audio handed in. Nothing of one utterance reaches the
 * next, so any call may use any decoder. No files: the dictionary begins empty and grows by the words of the grammars,
 * and the noise tracker is turned off in the settings.
 */
import type { Guess } from '../../contract/engines.ts';
import { cepstralMean } from './cepstral-mean.ts';
import { hasEnoughSpeech } from './enough-speech.ts';
import { type CompiledGrammar, FINAL_STATE, START_STATE } from './grammar.ts';
import { nearestPhrase } from './nearest-phrase.ts';
import { hypothesisOf, rejectionArcs, SOUNDS, soundsIn, soundWord, type TimedWord, timedWords } from './rejection.ts';
import type { RawDecoder, SoundswallowerModule } from './soundswallower-module.ts';

export type DecoderRateHz = 8000 | 16000;

export interface Hypothesis {
  text: string;
  rejected: boolean;
  guess?: Guess;
}

/** Audio that is kept back at most until the line and the voice are known; partials begin when it is let go. */
const MAX_HELD_BACK_MS = 1_200;
/**
 * A short utterance that was rejected is heard a second time, with the mean of all of it. Costs at most 0.1 s of the
 * thread, after strange speech only.
 */
const SECOND_HEARING_MS = 2_000;
/** The package's own mean, for utterances without any sound. */
const STUDIO_MEAN = '40,3,-1';
/** Log probabilities in the decoder are whole powers of this. */
const LOG_BASE = 1.0001;
const NOTHING: Hypothesis = { text: '', rejected: false };

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
  /** The words of the last hypothesis, with their times. */
  words(): TimedWord[];
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
    // Wider than the price of entering the rejection loop (72 nats are 5e-32): with the package's beams the loop was
    // cut off at its first sound, and 40 of 48 strange sentences were forced into one of 12 phrases (0 with these).
    beam: 1e-80,
    pbeam: 1e-80,
    wbeam: 1e-80,
  });
  await raw.initialize();
  return new SoundswallowerDecoder(module, raw, rateHz);
}

class SoundswallowerDecoder implements PhraseDecoder {
  grammarKey = '';
  #grammar: CompiledGrammar | null = null;
  readonly #module: SoundswallowerModule;
  readonly #raw: RawDecoder;
  readonly #knownWords = new Set<string>();
  /** The utterance from its beginning, as far as it fits. */
  readonly #kept: Float32Array;
  readonly #frameSamples: number;
  readonly #maxHeldBackSamples: number;
  /** Of the whole utterance, kept or not. */
  #samples = 0;
  #isTunedIn = false;
  /** Something of this utterance was decoded: what the decoder has is not of the last one. */
  #hasDecoded = false;
  #floats = new Float32Array(0);
  #anywhere = false;

  constructor(module: SoundswallowerModule, raw: RawDecoder, rateHz: DecoderRateHz) {
    this.#module = module;
    this.#raw = raw;
    this.#kept = new Float32Array((SECOND_HEARING_MS * rateHz) / 1000);
    this.#frameSamples = rateHz / 100;
    this.#maxHeldBackSamples = (MAX_HELD_BACK_MS * rateHz) / 1000;
    raw.add_words(...SOUNDS.map((sound): [string, string] => [soundWord(sound), sound]));
  }

  begin(grammar: CompiledGrammar): void {
    if (grammar.key !== this.grammarKey) this.#load(grammar);
    this.#grammar = grammar;
    this.#anywhere = grammar.anywhere;
    this.#samples = 0;
    this.#isTunedIn = false;
    this.#hasDecoded = false;
  }

  push(monoSamples: Int16Array): void {
    const count = monoSamples.length;
    if (this.#floats.length < count) this.#floats = new Float32Array(count);
    for (let i = 0; i < count; i++) this.#floats[i] = monoSamples[i]! / 32768;
    const heard = this.#floats.subarray(0, count);
    const room = Math.max(0, this.#kept.length - this.#samples);
    this.#kept.set(heard.subarray(0, room), Math.min(this.#samples, this.#kept.length));
    this.#samples += count;
    if (this.#isTunedIn) {
      this.#raw.process_audio(heard, false, false);
    } else if (this.#knowsTheVoice()) {
      this.#tuneIn();
      if (count > room) this.#raw.process_audio(heard.subarray(room), false, false);
    }
  }

  partial(): Hypothesis {
    return this.#isTunedIn ? this.#hypothesis() : NOTHING;
  }

  finish(): Hypothesis {
    const heardWhole = !this.#isTunedIn;
    if (heardWhole) this.#tuneIn();
    const first = this.#stop();
    if (!first.rejected || this.#anywhere) return first;
    if (heardWhole || this.#samples > this.#kept.length) return this.#withGuess(first);
    this.#tuneIn();
    const second = this.#stop();
    return second.rejected ? this.#withGuess(second) : second;
  }

  words(): TimedWord[] {
    return this.#hasDecoded ? timedWords(this.#raw.get_alignment().w ?? []) : [];
  }

  abandon(): void {
    if (this.#isTunedIn) this.#raw.stop();
    this.#isTunedIn = false;
  }

  #stop(): Hypothesis {
    this.#isTunedIn = false;
    this.#raw.stop();
    return this.#hypothesis();
  }

  #hypothesis(): Hypothesis {
    const words = this.#raw.get_text();
    return words === '' ? NOTHING : hypothesisOf(words, this.#anywhere);
  }

  #withGuess(rejected: Hypothesis): Hypothesis {
    const guess = nearestPhrase(soundsIn(this.#raw.get_text()), this.#grammar!);
    return guess === null ? rejected : { ...rejected, guess };
  }

  #knowsTheVoice(): boolean {
    if (this.#samples >= this.#maxHeldBackSamples) return true;
    return hasEnoughSpeech(this.#kept.subarray(0, this.#samples), this.#frameSamples);
  }

  /**
   * Begins the decoding with what was kept so far, and with the mean of it in a new front end: nothing of the last
   * utterance is left.
   */
  #tuneIn(): void {
    const module = this.#module;
    const held = this.#kept.subarray(0, Math.min(this.#samples, this.#kept.length));
    let mean: number[] | null = null;
    if (held.length > 0) {
      const spectrum = this.#raw.spectrogram(held);
      mean = cepstralMean(spectrum.data, spectrum.nfr, spectrum.nfeat);
    }
    const text = mean === null ? STUDIO_MEAN : mean.map((value) => value.toFixed(2)).join(',');
    this.#raw.set_config('cmninit', text);
    const frontEnd = module._decoder_init_fe(this.#raw.cdecoder);
    const features = module._decoder_init_feat_s3file(this.#raw.cdecoder, 0);
    if (module._acmod_reinit_feat(this.#raw.cacmod, frontEnd, features) < 0) {
      throw new Error('soundswallower: no new front end');
    }
    this.#raw.start();
    this.#isTunedIn = true;
    this.#hasDecoded = true;
    if (held.length > 0) this.#raw.process_audio(held, false, false);
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
    for (const arc of grammar.arcs) add(arc.from, arc.to, arc.word, arc.nats ?? 0);
    for (const arc of rejectionArcs(grammar)) add(arc.from, arc.to, arc.word, arc.nats);
    module._fsg_set_states(graph, START_STATE, FINAL_STATE);
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
