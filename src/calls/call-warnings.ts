/**
 * The `warnings` of a call: what went wrong without ending it. In the row a warning is its code, or where it can be met
 * several times over, each time of something else (a placeholder without a value), a code with a key and a count; a
 * client sees all in one shape.
 */
export interface CountedWarning {
  code: string;
  key: string;
  /** How often it was met. */
  count: number;
}

export type CallWarning = string | CountedWarning;

/** As a client sees it (contract §3). */
export interface ShownWarning {
  code: string;
  key: string | null;
  count: number;
}

/** A script can name more keys than anybody will read of. */
const MOST_COUNTED = 50;

export function withWarning(
  warnings: readonly CallWarning[],
  { code, key, count = 1 }: { code: string; key?: string | undefined; count?: number | undefined },
): CallWarning[] {
  if (key === undefined) return warnings.includes(code) ? [...warnings] : [...warnings, code];
  const at = warnings.findIndex((one) => typeof one !== 'string' && one.code === code && one.key === key);
  if (at >= 0) {
    return warnings.map((one, index) =>
      index === at && typeof one !== 'string' ? { ...one, count: one.count + count } : one,
    );
  }
  const counted = warnings.filter((one) => typeof one !== 'string').length;
  return counted < MOST_COUNTED ? [...warnings, { code, key, count }] : [...warnings];
}

export function codeOf(warning: CallWarning): string {
  return typeof warning === 'string' ? warning : warning.code;
}

export function shownWarning(warning: CallWarning): ShownWarning {
  if (typeof warning === 'string') return { code: warning, key: null, count: 1 };
  const { code, key, count } = warning;
  return { code, key, count };
}
