import { LONGEST_CLIP_MS } from '../contract/clip.ts';

/** A file that becomes no clip. The sentence is for whoever sent it: what is wrong, and the way out. */
export class ClipRefused extends Error {
  override readonly name = 'ClipRefused';
}

/** What a reader of one kind cannot read, and another may (FFmpeg). */
export class NotReadHere extends Error {
  override readonly name = 'NotReadHere';
}

export function tooLong(): ClipRefused {
  return new ClipRefused(`it is longer than ${LONGEST_CLIP_MS / 1000} s; send a shorter one`);
}
