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

const CHECK_LIMIT_MS = 15_000;

/** Never rejects. */
export async function runCheck(name: string, check: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${CHECK_LIMIT_MS / 1000} s`)), CHECK_LIMIT_MS);
  });
  try {
    return await Promise.race([check(), tooLate]);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [fail(name, `could not be checked: ${detail}`, 'See the message; the other lines may say why.')];
  } finally {
    clearTimeout(timer);
  }
}
