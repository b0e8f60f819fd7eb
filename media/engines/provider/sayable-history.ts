/**
 * What a model once wrote is a part of every request after it: one that the server refuses would lose the whole call.
 * So it is made such that servers take it. Pure.
 */

/** Half of a pair, where a text was cut within it: no UTF-8 can say it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Models invent names such as `functions.find`; servers take these characters, and 64 of them. */
export function takenName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || '_';
}
