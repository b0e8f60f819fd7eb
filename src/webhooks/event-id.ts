/** Ids of webhook events: sortable by time of creation and free of dots, which the signature uses as separators. */
import { v7 as uuidv7 } from 'uuid';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^22 is just over 2^128. */
const BASE62_CHARACTERS = 22;

/** `evt_` + 22 base62 characters of a UUIDv7: `evt_036tdKQEvNsu6NyJ9kRaJJ`. */
export function createEventId(uuid: string = uuidv7()): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let index = 0; index < BASE62_CHARACTERS; index++) {
    text = DIGITS[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return `evt_${text}`;
}
