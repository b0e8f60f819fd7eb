/**
 * Resume tokens as media makes and checks them: `r.<call>.<epoch>.<number>.<mac>` under the key that control gave for
 * this claim of the session. `src/embed/resume-keys.ts` is control's side. The number rises with each token; only the
 * newest is good.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface ResumeFacts {
  callUuid: string;
  epoch: number;
  number: number;
  keyHex: string;
}

export function resumeTokenOf({ callUuid, epoch, number, keyHex }: ResumeFacts): string {
  const mac = createHmac('sha256', Buffer.from(keyHex, 'hex')).update(`${callUuid} ${epoch} ${number}`);
  return `r.${callUuid}.${epoch}.${number}.${mac.digest('base64url')}`;
}

export function isResumeTokenOf(token: string, facts: ResumeFacts): boolean {
  const given = Buffer.from(token);
  const expected = Buffer.from(resumeTokenOf(facts));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The call that a resume token speaks of, before anything of it is believed; null for any other token. */
export function callOfResumeToken(token: string): string | null {
  return token.startsWith('r.') ? (token.split('.', 2)[1] ?? null) : null;
}
