/**
 * Resume tokens of web sessions: `r.<call>.<epoch>.<number>.<mac>`, opaque to clients. Control gives each claim of a
 * session a key of its own, with which media makes and checks its tokens alone; after that process's death control can
 * check them too, and stores nothing for it. A claim raises the epoch, and with it all older tokens are spent.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';

export interface ResumeToken {
  callUuid: string;
  epoch: number;
  /** Rises with each token of one claim. */
  number: number;
}

export interface ResumeKeys {
  keyHexOf(call: { callUuid: string; epoch: number }): string;
  /** Null: none that was ever made under these master keys. */
  verify(token: string): ResumeToken | null;
}

const TOKEN =
  /^r\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(\d{1,9})\.(\d{1,9})\.([A-Za-z0-9_-]{43})$/;

export function isResumeToken(token: string): boolean {
  return token.startsWith('r.');
}

export function createResumeKeys(masterKeys: GivenKeys): ResumeKeys {
  const keys = hkdfKeys(masterKeys, 'parley resume token');
  const keyOf = (master: Buffer, { callUuid, epoch }: { callUuid: string; epoch: number }): Buffer =>
    createHmac('sha256', master).update(`${callUuid} ${epoch}`).digest();
  return {
    keyHexOf: (call) => keyOf(keys.current(), call).toString('hex'),
    verify(token) {
      const match = TOKEN.exec(token);
      if (match === null) return null;
      const [, callUuid = '', epochText, numberText, macText = ''] = match;
      const found = { callUuid, epoch: Number(epochText), number: Number(numberText) };
      const given = Buffer.from(macText, 'base64url');
      const isOurs = keys.all().some((master) => {
        const expected = createHmac('sha256', keyOf(master, found))
          .update(`${found.callUuid} ${found.epoch} ${found.number}`)
          .digest();
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      return isOurs ? found : null;
    },
  };
}
