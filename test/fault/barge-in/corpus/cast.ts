/**
 * Gives each spoken clip a speaker whom the emulated recogniser understands in a quiet room: what it cannot hear at its
 * best says nothing about the agent. How it is said in the call (level, noise, place) is not looked at. Called by
 * `run.ts` before the clips are written.
 */

import { startWordRecogniser, type WordRecogniser } from '../../../../bench/emulators/providers/word-recogniser.ts';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import type { Case } from '../plan.ts';
import { type Phrase, SETS, type SetName, type Speaker, vocabularyOf } from './phrases.ts';
import { CORPUS_RATE_HZ, type Voices } from './voices.ts';

const QUIET_MS = 300;
const SPOKEN_KINDS = ['sentence', 'word', 'answer', 'before', 'overlap', 'assent', 'assent-de'];

export async function castSpeakers(
  set: SetName,
  cases: readonly Case[],
  voices: Voices,
): Promise<{ cases: Case[]; recast: number }> {
  const recogniser = await startWordRecogniser(
    (error) => {
      throw error;
    },
    { yields: false },
  );
  const known = new Map<string, Promise<boolean>>();
  const understands = (phrase: Phrase, speaker: Speaker): Promise<boolean> => {
    const key = JSON.stringify([phrase, speaker]);
    const understood = known.get(key) ?? isUnderstood(recogniser, set, voices, phrase, speaker);
    known.set(key, understood);
    return understood;
  };
  const castFor = async (phrase: Phrase, first: Speaker): Promise<Speaker> => {
    const { speakers } = SETS[set];
    for (const speaker of [first, ...speakers[phrase.language], ...speakers.en])
      if (await understands(phrase, speaker)) return speaker;
    return first;
  };
  let recast = 0;
  try {
    const out: Case[] = [];
    for (const one of cases) {
      const isSpoken = SPOKEN_KINDS.includes(one.kind);
      const speaker = isSpoken ? await castFor({ text: one.says, language: one.language }, one.speaker) : one.speaker;
      const openingSpeaker =
        one.opens === null
          ? one.openingSpeaker
          : await castFor({ text: one.opens, language: 'en' }, one.openingSpeaker);
      if (speaker !== one.speaker) recast++;
      out.push({ ...one, speaker, openingSpeaker });
    }
    return { cases: out, recast };
  } finally {
    await recogniser.close();
  }
}

async function isUnderstood(
  recogniser: WordRecogniser,
  set: SetName,
  voices: Voices,
  phrase: Phrase,
  speaker: Speaker,
): Promise<boolean> {
  const random = createRandom(1);
  const spoken = await voices.speak(phrase, speaker, random);
  const quiet = (QUIET_MS * CORPUS_RATE_HZ) / 1000;
  // The noise of a line: a decoder that hears nothing at all before a word is not at its best.
  const sound = Int16Array.from({ length: spoken.length + 2 * quiet }, (_one, i) =>
    Math.round((spoken[i - quiet] ?? 0) / 2 + 40 * (random() - 0.5)),
  );
  const text = await new Promise<string>((done, failed) => {
    const stream = recogniser.open(
      CORPUS_RATE_HZ,
      vocabularyOf(set),
      ({ words, final }) => final && done(words.map(({ word }) => word).join(' ')),
      failed,
    );
    for (let at = 0; at < sound.length; at += 160) stream.push(sound.slice(at, at + 160));
    stream.finish();
  });
  return text === phrase.text;
}
