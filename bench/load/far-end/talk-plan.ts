/**
 * What the far end of one call says, frame by frame: nothing, sound and silence that listen to nobody, or turns that
 * wait for the target and at times interrupt it. Made of a planned call's `talk`; driven by the phone every 20 ms
 * with when the target was last heard. All chance comes from the call's own seed.
 */
import type { Talk } from '../contract/workload.ts';
import { type Clip, type SaidFrame, SILENT_FRAME } from './said-sound.ts';

export interface TalkPlan {
  /**
   * The frame that is sent at `nowMs`. `targetHeardMs` is when the target was last heard (minus infinity: never); the
   * call was answered at the first call's `nowMs`.
   */
  frame(nowMs: number, targetHeardMs: number): SaidFrame;
}

/** The target talks if it was heard so shortly ago: the pauses between its words are no end of its turn. */
const TALKS_WITHIN_MS = 200;

/** `clips`: at least one, none of them empty. */
export function createTalkPlan(talk: Talk, clips: readonly Clip[], random: () => number): TalkPlan {
  switch (talk.kind) {
    case 'silent':
      return { frame: () => SILENT_FRAME };
    case 'on-off':
      return onOff(talk, clips.flat(), random);
    case 'turns':
      return turns(talk, clips, random);
  }
}

/** How long the far end waits for an answer before a turn counts as unanswered; null: it expects none. */
export function patienceOf(talk: Talk): number | null {
  return talk.kind === 'turns' ? talk.patienceMs : null;
}

function drawn(spread: number | [number, number], random: () => number): number {
  return typeof spread === 'number' ? spread : spread[0] + (spread[1] - spread[0]) * random();
}

/** Its words are all clips in a row, from anywhere on. */
function onOff(talk: Extract<Talk, { kind: 'on-off' }>, sound: Clip, random: () => number): TalkPlan {
  let talks = false;
  let untilMs = Number.NaN;
  let at = Math.floor(random() * sound.length);
  return {
    frame(nowMs) {
      // Silence first: the one who called says hello.
      if (Number.isNaN(untilMs)) untilMs = nowMs + drawn(talk.silenceSeconds, random) * 1_000;
      while (nowMs >= untilMs) {
        talks = !talks;
        // At least a frame, else a length of 0 on both sides would never end.
        untilMs += Math.max(20, drawn(talks ? talk.talkSeconds : talk.silenceSeconds, random) * 1_000);
      }
      if (!talks) return SILENT_FRAME;
      at = (at + 1) % sound.length;
      return sound[at]!;
    },
  };
}

function turns(talk: Extract<Talk, { kind: 'turns' }>, clips: readonly Clip[], random: () => number): TalkPlan {
  const firstClip = Math.floor(random() * clips.length);
  let said = 0;
  let speaking: Clip | null = null;
  let at = 0;
  let interrupts = random() < talk.bargeInShare;
  /** Its own last sound, the answer at first. */
  let ownEndMs = Number.NaN;
  /** Of the target's turn that goes on; NaN: it is silent. */
  let targetBeganMs = Number.NaN;

  const maySpeak = (nowMs: number, targetHeardMs: number): boolean => {
    if (said === talk.turns) return false;
    if (interrupts && nowMs - targetBeganMs >= talk.bargeInAfterMs) return true;
    const answered = targetHeardMs > ownEndMs;
    if (answered) return nowMs - targetHeardMs >= talk.afterMs;
    return nowMs - ownEndMs >= talk.patienceMs;
  };

  return {
    frame(nowMs, targetHeardMs) {
      if (Number.isNaN(ownEndMs)) ownEndMs = nowMs;
      const targetTalks = targetHeardMs > ownEndMs && nowMs - targetHeardMs < TALKS_WITHIN_MS;
      if (!targetTalks) targetBeganMs = Number.NaN;
      else if (Number.isNaN(targetBeganMs)) targetBeganMs = targetHeardMs;
      if (speaking === null && maySpeak(nowMs, targetHeardMs)) {
        speaking = clips[(firstClip + said) % clips.length]!;
        at = 0;
        said++;
        interrupts = random() < talk.bargeInShare;
      }
      if (speaking === null) return SILENT_FRAME;
      const frame = speaking[at++]!;
      if (at === speaking.length) {
        speaking = null;
        ownEndMs = nowMs;
      }
      return frame;
    },
  };
}
