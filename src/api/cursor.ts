/**
 * The opaque `cursor` and `nextCursor` of every list that is answered in pages (contract §13). A list encodes where its
 * page ended and decodes where the next begins; a client can only hand back what it was given. A cursor is good for one
 * kind of list, one workspace and one set of filters, and for as long as the master key lives. It is signed, not
 * secret: put nothing into it that the page before did not show.
 *
 *   base64url( JSON of the parts ‖ first 16 bytes of HMAC-SHA256 over kind, workspace, filters and that JSON )
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';
import { canonicalJson } from './outbound-call/canonical-json.ts';
import { Refusal } from './refusal.ts';

/** What a cursor is bound to. */
export interface CursorScope {
  /** Names the list, such as `calls` or `leads`. */
  kind: string;
  workspaceId: string;
  /**
   * What was asked for besides the place and the size of the page. Order of keys and undefined values do not matter.
   */
  filters: object;
}

export interface CursorCodec {
  /** `parts`: the sort key of the last row of the page. */
  encode(scope: CursorScope, parts: readonly string[]): string;
  /**
   * The parts as they were encoded. Throws a `Refusal` (400 `invalid_cursor`) for anything that `encode` did not make
   * in this scope.
   */
  decode(scope: CursorScope, text: string): string[];
}

const TAG_BYTES = 16;
const LONGEST_TEXT = 1_024;

export function createCursorCodec(masterKeys: GivenKeys): CursorCodec {
  const keys = hkdfKeys(masterKeys, 'parley list cursor');

  function tagOf({ kind, workspaceId, filters }: CursorScope, payload: Buffer, key: Buffer): Buffer {
    // JSON first: it drops what is undefined and makes text of dates. The lengths keep
    // neighbours from running together.
    const bound = canonicalJson([kind, workspaceId, JSON.parse(JSON.stringify(filters))]);
    const hmac = createHmac('sha256', key)
      .update(`${Buffer.byteLength(bound)} ${bound}`)
      .update(payload);
    return hmac.digest().subarray(0, TAG_BYTES);
  }

  return {
    encode(scope, parts) {
      const payload = Buffer.from(JSON.stringify(parts), 'utf8');
      return Buffer.concat([payload, tagOf(scope, payload, keys.current())]).toString('base64url');
    },
    decode(scope, text) {
      const bytes = text.length <= LONGEST_TEXT ? Buffer.from(text, 'base64url') : Buffer.alloc(0);
      // Node skips what is no base64url; a text with such characters is not the one that was given out.
      if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== text) throw new Refusal('invalid_cursor');
      const payload = bytes.subarray(0, -TAG_BYTES);
      const tag = bytes.subarray(-TAG_BYTES);
      const isOurs = keys.all().some((key) => timingSafeEqual(tagOf(scope, payload, key), tag));
      if (!isOurs) throw new Refusal('invalid_cursor');
      return JSON.parse(payload.toString('utf8')) as string[];
    },
  };
}
