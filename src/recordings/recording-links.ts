/**
 * Addresses of recordings that need no API key: signed, for one call, one form of one part, and until one time. The API
 * redirects to one that lives five minutes; webhooks and the call log tell one that lives a day (contract §11), or to a
 * person at the console a quarter of an hour. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../media/contract/clock.ts';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';
import type { SoundForm } from './sound-form.ts';

/** What a link leads to. */
export interface RecordingTarget extends SoundForm {
  callUuid: string;
  /** Null: the whole call. From 1: one of its streams alone. */
  part: number | null;
}

export interface SignedLink {
  url: string;
  expiresAt: Date;
}

export interface RecordingLinks {
  sign(target: RecordingTarget, lifeMs: number): SignedLink;
  check(target: RecordingTarget, expires: number, signature: string): 'good' | 'expired' | 'bad';
}

/** For who was just authenticated. */
export const REDIRECT_LIFE_MS = 300_000;
/** For a person at the console: a right that is taken away must not live on as an address. */
export const CONSOLE_LIFE_MS = 900_000;
/** For who was told. */
export const TOLD_LIFE_MS = 86_400_000;

/** `publicUrl` has no slash at its end. */
export function createRecordingLinks(
  masterKeys: GivenKeys,
  publicUrl: string,
  clock: Pick<Clock, 'epochMs'>,
): RecordingLinks {
  const keys = hkdfKeys(masterKeys, 'parley recording link');
  const signatureOf = ({ callUuid, part, variant, format }: RecordingTarget, expires: number, key: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([callUuid, part, variant, format, expires]))
      .digest();

  return {
    sign(target, lifeMs) {
      const expires = Math.ceil((clock.epochMs() + lifeMs) / 1000);
      const query = new URLSearchParams({
        variant: target.variant,
        format: target.format,
        ...(target.part === null ? {} : { part: String(target.part) }),
        expires: String(expires),
        signature: signatureOf(target, expires, keys.current()).toString('base64url'),
      });
      return {
        url: `${publicUrl}/api/developer/recordings/${target.callUuid}?${query}`,
        expiresAt: new Date(expires * 1000),
      };
    },
    check(target, expires, signature) {
      const given = Buffer.from(signature, 'base64url');
      const isOurs = keys.all().some((key) => {
        const wanted = signatureOf(target, expires, key);
        return given.length === wanted.length && timingSafeEqual(given, wanted);
      });
      if (!isOurs) return 'bad';
      return expires * 1000 > clock.epochMs() ? 'good' : 'expired';
    },
  };
}
