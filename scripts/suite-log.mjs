/**
 * Does the log of the whole suite hold a planted secret? Tests give Parley canaries, keys, tokens and telephone numbers
 * of the range kept for fiction, in every way in which it gets them; what its processes log meanwhile is in one file
 * (`bench/harness/suite-log.ts`).
 */
import { existsSync, readFileSync } from 'node:fs';

const PLANTED = [
  { what: 'a canary', form: /canary/i },
  { what: 'a telephone number', form: /(?<!\d)\+?1?415555\d{4}(?!\d)/ },
  { what: 'an API key', form: /\bsv_(live|test)_[\w-]{8}_[\w-]{8,}/ },
  { what: 'a webhook secret', form: /\bwhsec_[\w+/=]{8,}/ },
  { what: "the carrier's token", form: /emulated-token-of-no-value/ },
  { what: 'a password of a database', form: /postgres(ql)?:\/\/[^\s:/"]+:(?!password@)[^[\s@"][^\s@"]*@/ },
  { what: 'a name', form: /\b(Quentin|Asha)\b/ },
  { what: 'words of a conversation', form: /zanzibar|banana please|three in the afternoon/i },
];

/** Null when nothing was logged; else how many lines there are, and each that holds one. */
export function leaksIn(file) {
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const leaks = lines.flatMap((line) => {
    const planted = PLANTED.find(({ form }) => form.test(line));
    return planted === undefined ? [] : [`${planted.what}: ${line.slice(0, 400)}`];
  });
  return { lines: lines.length, leaks };
}
