/**
 * Gives each spoken clip a speaker whom the emulated recogniser understands in the clip's own room, at its own level,
 * by itself, wherever its frames begin: what it cannot hear when nothing else is going on says nothing about the agent.
 * Where it understands none, the case says so. Called by `run.ts` before the clips are written.
 */

import { startWordRecogniser } from '../../../../bench/emulators/providers/word-recogniser.ts';
import { decodeMulaw, encodeMulaw } from '../../../../media/audio/g711.ts';
import type { Case } from '../plan.ts';
import { soundOfCase } from './clips.ts';
import { SETS, type SetName, vocabularyOf } from './phrases.ts';
import { CORPUS_RATE_HZ, type Voices } from './voices.ts';

/** Before the clip. A doubtful word is another one a few milliseconds later. */
const QUIET_MS = [300, 307, 433] as const;
const SPOKEN_KINDS = ['sentence', 'word', 'answer', 'before', 'overlap', 'assent', 'assent-de'];

export interface Cast {
  cases: Case[];
  /** Cases that were given another speaker. */
  recast: number;
  /** Cases whose words the recogniser takes for others, whoever says them; ids. */
  misheard: ReadonlySet<string>;
}

export async function castSpeakers(set: SetName, cases: readonly Case[], voices: Voices): Promise<Cast> {
  const recogniser = await startWordRecogniser(
    (error) => {
      throw error;
    },
    { yields: false },
  );
  const { speakers } = SETS[set];
  const out: Case[] = [];
  const misheard = new Set<string>();
  let recast = 0;
  try {
    for (const one of cases) {
      const first = await openedClearly(one);
      const given = SPOKEN_KINDS.includes(one.kind) ? await understoodForm(first) : first;
      if (given === null) misheard.add(one.id);
      else if (given.speaker !== one.speaker) recast++;
      out.push(given ?? first);
    }
    return { cases: out, recast, misheard };
  } finally {
    await recogniser.close();
  }

  /** Null: there is none. */
  async function understoodForm(one: Case): Promise<Case | null> {
    for (const speaker of new Set([one.speaker, ...speakers[one.language], ...speakers.en])) {
      const form = { ...one, speaker };
      const { sound, room } = await soundOfCase(form, set, voices);
      if (await isHeardAs(one.says, sound, room)) return form;
    }
    return null;
  }

  async function openedClearly(one: Case): Promise<Case> {
    if (one.opens === null) return one;
    for (const openingSpeaker of new Set([one.openingSpeaker, ...speakers.en])) {
      const form = { ...one, openingSpeaker };
      const { opening, room } = await soundOfCase(form, set, voices);
      if (await isHeardAs(one.opens, opening!, room)) return form;
    }
    return one;
  }

  async function isHeardAs(text: string, sound: Float64Array, room: Float64Array): Promise<boolean> {
    for (const quietMs of QUIET_MS) if ((await heardOf(sound, room, quietMs)) !== text) return false;
    return true;
  }

  function heardOf(sound: Float64Array, room: Float64Array, quietMs: number): Promise<string> {
    const quiet = (quietMs * CORPUS_RATE_HZ) / 1000;
    const mixed = Int16Array.from({ length: sound.length + 2 * quiet }, (_one, i) => {
      const sample = (sound[i - quiet] ?? 0) + room[i % room.length]!;
      return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
    });
    const mulaw = new Uint8Array(mixed.length);
    encodeMulaw(mixed, 0, mixed.length, mulaw, 0);
    decodeMulaw(mulaw, 0, mulaw.length, mixed, 0);
    return new Promise((done, failed) => {
      const stream = recogniser.open(
        CORPUS_RATE_HZ,
        vocabularyOf(set),
        ({ words, final }) => final && done(words.map(({ word }) => word).join(' ')),
        failed,
      );
      for (let at = 0; at < mixed.length; at += 160) stream.push(mixed.slice(at, at + 160));
      stream.finish();
    });
  }
}
