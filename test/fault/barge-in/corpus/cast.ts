/**
 * Gives each spoken clip a speaker whom the emulated recogniser understands in the clip's own room, at its own level,
 * by itself, wherever its frames begin; where it understands none there, a quieter room. What it cannot hear when
 * nothing else is going on says nothing about the agent. Where nothing helps, the case says so, as does a noise in
 * which it hears words. Called by `run.ts` before the clips are written.
 */
import { type Case, SNRS_DB } from '../plan.ts';
import { soundOfCase } from './clips.ts';
import { startLoneListener } from './listen-alone.ts';
import { SETS, type SetName, vocabularyOf } from './phrases.ts';
import type { Voices } from './voices.ts';

/** Before the clip. A doubtful word is another one a few milliseconds later. */
const QUIET_MS = [300, 307, 433] as const;
const SPOKEN_KINDS = ['sentence', 'word', 'answer', 'before', 'overlap', 'assent', 'assent-de'];

export interface Cast {
  cases: Case[];
  /** Cases that were given another speaker. */
  recast: number;
  /** Cases that were given a quieter room. */
  moved: number;
  /** Cases in which the recogniser hears other words than were said, whoever says them and wherever; ids. */
  misheard: ReadonlySet<string>;
}

export async function castSpeakers(set: SetName, cases: readonly Case[], voices: Voices): Promise<Cast> {
  const listener = await startLoneListener(vocabularyOf(set));
  const { speakers } = SETS[set];
  const out: Case[] = [];
  const misheard = new Set<string>();
  let recast = 0;
  let moved = 0;
  try {
    for (const one of cases) {
      const given = await understoodForm(one);
      if (given === null) misheard.add(one.id);
      else if (given.speaker !== one.speaker) recast++;
      if (given !== null && given.snrDb !== one.snrDb) moved++;
      out.push(given ?? one);
    }
    return { cases: out, recast, moved, misheard };
  } finally {
    await listener.close();
  }

  /** Null: there is none. */
  async function understoodForm(one: Case): Promise<Case | null> {
    if (!SPOKEN_KINDS.includes(one.kind)) return (await isUnderstood(one)) ? one : null;
    const quieter = SNRS_DB.filter((snrDb) => snrDb > one.snrDb).toSorted((a, b) => a - b);
    for (const snrDb of [one.snrDb, ...quieter]) {
      for (const speaker of new Set([one.speaker, ...speakers[one.language], ...speakers.en])) {
        const opened = await openedClearly({ ...one, speaker, snrDb });
        if (opened !== null && (await isUnderstood(opened))) return opened;
      }
    }
    return null;
  }

  async function isUnderstood(one: Case): Promise<boolean> {
    const clip = await soundOfCase(one, set, voices);
    return isHeardAs(SPOKEN_KINDS.includes(one.kind) ? one.says : '', clip);
  }

  /** With somebody whose opening is understood, where the caller opens; null: there is nobody. */
  async function openedClearly(one: Case): Promise<Case | null> {
    if (one.opens === null) return one;
    for (const openingSpeaker of new Set([one.openingSpeaker, ...speakers.en])) {
      const form = { ...one, openingSpeaker };
      const { opening, room } = await soundOfCase(form, set, voices);
      if (await isHeardAs(one.opens, { sound: opening!, room })) return form;
    }
    return null;
  }

  async function isHeardAs(text: string, clip: { sound: Float64Array; room: Float64Array }): Promise<boolean> {
    for (const quietMs of QUIET_MS) if ((await listener.heardIn(clip, quietMs)) !== text) return false;
    return true;
  }
}
