/**
 * Where each character of a text lies in its sound. The voice engine tells when each sound of speech ends; which of
 * them make which word is found by comparing them with the sounds of the words said one by one. Pure.
 */

export interface Phone {
  name: string;
  startMs: number;
  endMs: number;
}

export interface CharTimes {
  /** Ms from the first sample, one a UTF-16 unit of the text. */
  startMs: number[];
  endMs: number[];
}

interface Span {
  from: number;
  to: number;
}

export const PAUSE = 'pau';

/**
 * For each word the phones of it among `phones` (without pauses): pairs of equal names in the same order, and what lies
 * between two pairs goes to the words in proportion. Null: a word without a sound.
 */
export function phonesOfWords(phones: readonly string[], words: readonly (readonly string[])[]): (Span | null)[] {
  const flat = words.flatMap((word, index) => word.map((name) => ({ name, index })));
  const owner = new Array<number>(phones.length).fill(-1);
  const pairs = [
    ...commonPairs(
      phones,
      flat.map(({ name }) => name),
    ),
    [phones.length, flat.length] as const,
  ];
  let [lastA, lastB] = [-1, -1];
  for (const [a, b] of pairs) {
    const [gapA, gapB] = [a - lastA - 1, b - lastB - 1];
    for (let i = 0; i < gapA; i++) {
      const at = gapB === 0 ? Math.max(0, lastB) : lastB + 1 + Math.floor((i * gapB) / gapA);
      owner[lastA + 1 + i] = flat[Math.min(at, flat.length - 1)]?.index ?? -1;
    }
    if (a < phones.length) owner[a] = flat[b]!.index;
    [lastA, lastB] = [a, b];
  }
  return words.map((_word, index) => {
    const from = owner.indexOf(index);
    return from < 0 ? null : { from, to: owner.lastIndexOf(index) + 1 };
  });
}

/** Index pairs of a longest common subsequence. */
export function commonPairs(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

/** Words of a text: runs without white space. */
export function wordSpans(text: string): Span[] {
  return [...text.matchAll(/\S+/g)].map((match) => ({ from: match.index, to: match.index + match[0].length }));
}

/**
 * `times` of the words, in order; a word without a sound (null) lasts nothing. The space between takes what is left.
 */
export function charTimes(
  text: string,
  times: readonly ({ startMs: number; endMs: number } | null)[],
  totalMs: number,
): CharTimes {
  const startMs = new Array<number>(text.length).fill(0);
  const endMs = new Array<number>(text.length).fill(0);
  const spread = (span: Span, from: number, to: number): void => {
    const each = (to - from) / Math.max(1, span.to - span.from);
    for (let i = span.from; i < span.to; i++) {
      startMs[i] = from + (i - span.from) * each;
      endMs[i] = from + (i - span.from + 1) * each;
    }
  };
  let [at, nowMs] = [0, 0];
  wordSpans(text).forEach((span, index) => {
    const time = times[index] ?? { startMs: nowMs, endMs: nowMs };
    const begins = Math.max(nowMs, time.startMs);
    // Silence before the first word belongs to it where there is no space.
    spread({ from: at, to: span.from }, nowMs, begins);
    spread(span, at === span.from ? nowMs : begins, Math.max(begins, time.endMs));
    [at, nowMs] = [span.to, Math.max(begins, time.endMs)];
  });
  spread({ from: at, to: text.length }, nowMs, totalMs);
  return { startMs, endMs };
}

/**
 * Times of a text's words by those of the text as it was spoken (numbers in words, signs named): equal words in the
 * same order have equal times, and those in between share theirs by their letters.
 */
export function timesOfWritten(
  written: readonly string[],
  spoken: readonly string[],
  spokenTimes: readonly ({ startMs: number; endMs: number } | null)[],
): ({ startMs: number; endMs: number } | null)[] {
  const bare = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, '');
  const times = new Array<{ startMs: number; endMs: number } | null>(written.length).fill(null);
  const pairs = [
    ...commonPairs(written.map(bare), spoken.map(bare)),
    [written.length, spoken.length] as [number, number],
  ];
  let [lastA, lastB] = [-1, -1];
  for (const [a, b] of pairs) {
    const between = spokenTimes.slice(lastB + 1, b).filter((time) => time !== null);
    const first = between[0];
    const last = between.at(-1);
    const letters = written.slice(lastA + 1, a).map((word) => bare(word).length);
    const all = letters.reduce((sum, one) => sum + one, 0);
    if (first !== undefined && last !== undefined && all > 0) {
      let nowMs = first.startMs;
      letters.forEach((count, i) => {
        const next = nowMs + ((last.endMs - first.startMs) * count) / all;
        if (count > 0) times[lastA + 1 + i] = { startMs: nowMs, endMs: next };
        nowMs = next;
      });
    }
    if (a < written.length) times[a] = spokenTimes[b] ?? null;
    [lastA, lastB] = [a, b];
  }
  return times;
}
