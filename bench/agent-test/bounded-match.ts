/** A regular expression of somebody else's, against a text: one that would never come to an end is ended. */
import { runInNewContext } from 'node:vm';

const LONGEST_MS = 500;

/** Without regard to capitals. Throws where it takes too long. */
export function matches(pattern: string, text: string): boolean {
  try {
    return runInNewContext(
      'new RegExp(pattern, "iu").test(text)',
      { pattern, text },
      { timeout: LONGEST_MS },
    ) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(
      `/${pattern}/ takes over ${LONGEST_MS} ms on ${text.length} characters; write it without nested repeats`,
    );
  }
}
