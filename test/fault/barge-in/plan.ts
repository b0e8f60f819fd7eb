/**
 * The cases of a barge-in run: who says or does what, and when in the agent's words. All of it from a seed, of one of
 * two sets. Pure; `run.ts` calls one telephone a case.
 */
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { type Language, type Phrase, SETS, type SetName, type Speaker } from './corpus/phrases.ts';

/** `before`, `overlap`: at both sides of the first word of an answer that the caller has asked for. */
export const INTERRUPTIONS = ['sentence', 'word', 'answer', 'before', 'overlap'] as const;
export const OTHERS = ['assent', 'assent-de', 'cough', 'breath', 'door', 'keyboard', 'music', 'babble'] as const;
export type CaseKind = (typeof INTERRUPTIONS)[number] | (typeof OTHERS)[number];

export interface Case {
  id: string;
  number: string;
  kind: CaseKind;
  /** The agent is to stop. */
  isInterruption: boolean;
  ear: EarName;
  /** What is said, or the name of the sound. */
  says: string;
  language: Language;
  speaker: Speaker;
  /** What the caller opens the call with; null: the agent does. */
  opens: string | null;
  openingSpeaker: Speaker;
  /** Counted from the agent's first sound, from the end of its question, or from the end of the opening. */
  from: 'agent' | 'question' | 'opening';
  afterMs: number;
  /** Over the mean power of speech. */
  louderDb: number;
  /** The room's noise below the speech. */
  snrDb: number;
  seed: number;
}

export const EARS = ['deepgram', 'deepgram-flux'] as const;
export type EarName = (typeof EARS)[number];

/** Of a hundred. */
const SHARES: Readonly<Record<CaseKind, number>> = {
  sentence: 18,
  word: 16,
  answer: 9,
  before: 5,
  overlap: 5,
  assent: 12,
  'assent-de': 11,
  cough: 6,
  breath: 3,
  door: 4,
  keyboard: 4,
  music: 4,
  babble: 3,
};
export const SNRS_DB = [40, 30, 22, 16] as const;

export function planCases(set: SetName, count: number, seed: number, ears: readonly EarName[] = EARS): Case[] {
  const random = createRandom(seed * 2 + (set === 'tuning' ? 0 : 1));
  const phrases = SETS[set];
  const kinds = kindsOf(count);
  return kinds.map((kind, index) => {
    const phrase = phraseOf(kind, index);
    const [from, lowMs, highMs] = placeOf(kind);
    return {
      id: `${kind}-${index}`,
      number: `+1415556${String(index).padStart(4, '0')}`,
      kind,
      isInterruption: (INTERRUPTIONS as readonly string[]).includes(kind),
      ear: ears[index % ears.length]!,
      says: phrase.text,
      language: phrase.language,
      speaker: one(phrases.speakers[phrase.language]),
      opens: from === 'opening' || kind === 'overlap' ? phrases.opening : null,
      openingSpeaker: one(phrases.speakers.en),
      from,
      afterMs: Math.round(lowMs + (highMs - lowMs) * random()),
      louderDb: Math.round(-6 + 10 * random()),
      snrDb: one(SNRS_DB),
      seed: Math.floor(random() * 1e9),
    };
  });

  function one<T>(of: readonly T[]): T {
    return of[Math.floor(random() * of.length)]!;
  }

  /** Each phrase in its turn. */
  function phraseOf(kind: CaseKind, index: number): Phrase {
    const of = {
      sentence: phrases.sentences,
      before: phrases.sentences,
      overlap: phrases.sentences,
      word: phrases.words,
      answer: phrases.answers,
      assent: phrases.assent.filter(({ language }) => language === 'en'),
      'assent-de': phrases.assent.filter(({ language }) => language === 'de'),
    } as Partial<Record<CaseKind, readonly Phrase[]>>;
    const own = kinds.slice(0, index).filter((before) => before === kind).length;
    const list = of[kind];
    return list === undefined ? { text: kind, language: 'en' } : list[own % list.length]!;
  }
}

/** Where in the agent's words, ms. Assent never falls where it could answer the agent's question. */
function placeOf(kind: CaseKind): [Case['from'], number, number] {
  switch (kind) {
    case 'answer':
      return ['question', 150, 900];
    case 'before':
      return ['opening', 550, 1_000];
    case 'overlap':
      return ['agent', 20, 500];
    case 'assent':
    case 'assent-de':
      return ['question', 3_500, 7_000];
    default:
      return ['agent', 700, 8_500];
  }
}

/** In the shares of the kinds, spread over the run, so that a short one has all of them. */
function kindsOf(count: number): CaseKind[] {
  const due = (Object.entries(SHARES) as [CaseKind, number][]).flatMap(([kind, share]) => {
    const wanted = Math.max(1, Math.round((share * count) / 100));
    return Array.from({ length: wanted }, (_one, i) => ({ kind, at: (i + 0.5) / wanted }));
  });
  return due.sort((a, b) => a.at - b.at).map(({ kind }) => kind);
}
