/**
 * What a check of `parley doctor` says, and how one is run: a check that throws or hangs is a
 * failed one, and stops no other.
 */

export interface CheckResult {
  name: string;
  level: 'ok' | 'warn' | 'fail';
  /** What was found. No secret, no whole telephone number. */
  detail: string;
  /** What to do; null when it is ok. */
  wayOut: string | null;
}

export const ok = (name: string, detail: string): CheckResult => ({ name, level: 'ok', detail, wayOut: null });
export const warn = (name: string, detail: string, wayOut: string): CheckResult => ({
  name,
  level: 'warn',
  detail,
  wayOut,
});
export const fail = (name: string, detail: string, wayOut: string): CheckResult => ({
  name,
  level: 'fail',
  detail,
  wayOut,
});

export const CHECK_LIMIT_MS = 15_000;

/** Of a process that a check starts: it ends before the check is given up. */
export const processLimitMs = (limitMs: number): number => 0.8 * limitMs;

/** Never rejects. */
export async function runCheck(
  name: string,
  check: () => Promise<CheckResult[]>,
  limitMs: number = CHECK_LIMIT_MS,
): Promise<CheckResult[]> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([check(), tooLate]);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const wayOut = 'See the message; the other lines may say why. On a full machine: parley doctor --patience 60.';
    return [fail(name, `could not be checked: ${detail}`, wayOut)];
  } finally {
    clearTimeout(timer);
  }
}
