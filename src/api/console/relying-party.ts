/**
 * This service at the address that the browser shows, as passkeys know it, and what browsers answer, as bodies. A
 * passkey belongs to a host name: that of PUBLIC_URL, or `localhost` on this very machine. Pure.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { NewPasskeyAnswer, PasskeyAnswer, RelyingParty } from '../../users/passkey-answers.ts';
import { Refusal } from '../refusal.ts';
import { isLocal } from './session-cookie.ts';

const LOCAL = /^localhost(:\d+)?$/i;
const ADDRESS = /^[\d.]+$|^\[/;

/** Null: passkeys do not work there. */
export function relyingPartyAt(request: FastifyRequest, publicUrl: string): RelyingParty | null {
  const asked = (request.headers.host ?? '').toLowerCase();
  if (LOCAL.test(asked) && isLocal(request)) return { host: 'localhost', origin: new URL(`http://${asked}`).origin };
  const { protocol, hostname, origin } = new URL(publicUrl);
  return protocol === 'https:' && !ADDRESS.test(hostname) ? { host: hostname, origin } : null;
}

/** Throws where passkeys do not work. */
export function relyingPartyMust(request: FastifyRequest, publicUrl: string): RelyingParty {
  const party = relyingPartyAt(request, publicUrl);
  if (party === null) throw new Refusal('passkeys_unavailable');
  return party;
}

const bytes = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');
const about = {
  id: bytes(1_400),
  rawId: bytes(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
  // Nothing is asked by extensions, so nothing is taken of what they say.
  clientExtensionResults: z.object({}),
};

export const passkeyAnswerBody = z
  .object({
    ...about,
    response: z.object({
      clientDataJSON: bytes(4_000),
      authenticatorData: bytes(4_000),
      signature: bytes(4_000),
      userHandle: bytes(100).optional(),
    }),
  })
  .meta({ id: 'PasskeyAnswer', description: '`AuthenticationResponseJSON` of WebAuthn Level 3' });

const transport = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

export const newPasskeyAnswerBody = z
  .object({
    ...about,
    response: z.object({
      clientDataJSON: bytes(4_000),
      attestationObject: bytes(16_000),
      transports: z.array(z.string().max(40)).max(20).default([]),
    }),
  })
  .meta({ id: 'NewPasskeyAnswer', description: '`RegistrationResponseJSON` of WebAuthn Level 3' });

export const passkeyAnswerOf = (body: z.output<typeof passkeyAnswerBody>): PasskeyAnswer => body as PasskeyAnswer;

/** Ways to an authenticator that are not known yet are left out. */
export function newPasskeyAnswerOf(body: z.output<typeof newPasskeyAnswerBody>): NewPasskeyAnswer {
  const { response } = body;
  const transports = response.transports.flatMap((one) => transport.safeParse(one).data ?? []);
  return { ...body, response: { ...response, transports } } as NewPasskeyAnswer;
}
