/**
 * The token that opens one web socket (contract §8): a JWT, 60 s, Ed25519, everything about it checked by name. Used by
 * the embed session (signs) and by the claim of a socket (verifies); burning the `jti` is the claim's business.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface SessionClaims {
  /** UUIDv7; good for one socket. */
  jti: string;
  /** The workspace's slug. */
  ent: string;
  agentId: string;
  origin: string;
  /** The public key. */
  pk: string;
  /** Seconds; after this plus 5 s the token is refused. */
  exp: number;
}

export type VerifiedToken =
  | { ok: true; claims: SessionClaims }
  | { ok: false; code: 'token_invalid' | 'token_expired' };

export interface SessionTokens {
  sign(claims: Omit<SessionClaims, 'exp'>): Promise<string>;
  /** Rejects only when the database is away. */
  verify(token: string): Promise<VerifiedToken>;
}

export const TOKEN_SECONDS = 60;
const SKEW_SECONDS = 5;
const ALGORITHM = 'EdDSA';
const AUDIENCE = 'ws/live';
const SUBJECT = 'embed';
const VERSION = 1;
/** Read with the first session: a service without a website's visitors never needs it. */
const jose = (): Promise<typeof import('jose')> => import('jose');
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `issuer`: PUBLIC_URL. */
export function createSessionTokens(deps: { keys: SigningKeys; clock: Clock; issuer: string }): SessionTokens {
  const { keys, clock, issuer } = deps;
  return {
    async sign({ jti, ...own }) {
      const { kid, privateKey } = await keys.current();
      const { SignJWT } = await jose();
      const nowSeconds = Math.floor(clock.epochMs() / 1000);
      return new SignJWT({ ...own, v: VERSION })
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(SUBJECT)
        .setJti(jti)
        .setIssuedAt(nowSeconds)
        .setNotBefore(nowSeconds)
        .setExpirationTime(nowSeconds + TOKEN_SECONDS)
        .sign(privateKey);
    },

    async verify(token) {
      const { errors, jwtVerify } = await jose();
      /** What the lookup of the key met: the database's being away is not the token's fault. */
      const lookUp: { fault: unknown } = { fault: null };
      try {
        const { payload } = await jwtVerify(
          token,
          async ({ kid }) => {
            const key = await keys.publicKeyOf(kid ?? '').catch((error: unknown) => {
              lookUp.fault = error;
              return null;
            });
            if (key === null) throw new errors.JWKSNoMatchingKey();
            return key;
          },
          {
            algorithms: [ALGORITHM],
            issuer,
            audience: AUDIENCE,
            subject: SUBJECT,
            typ: 'JWT',
            clockTolerance: SKEW_SECONDS,
            maxTokenAge: TOKEN_SECONDS,
            requiredClaims: ['jti', 'iat', 'nbf', 'exp', 'ent', 'agentId', 'origin', 'pk', 'v'],
            currentDate: new Date(clock.epochMs()),
          },
        );
        const { jti, ent, agentId, origin, pk, exp, v } = payload;
        const texts = [jti, ent, agentId, origin, pk];
        if (v !== VERSION || !texts.every((text) => typeof text === 'string') || !UUID.test(jti ?? '')) {
          return { ok: false, code: 'token_invalid' };
        }
        return { ok: true, claims: { jti, ent, agentId, origin, pk, exp } as SessionClaims };
      } catch (error) {
        if (lookUp.fault !== null) throw lookUp.fault;
        return { ok: false, code: error instanceof errors.JWTExpired ? 'token_expired' : 'token_invalid' };
      }
    },
  };
}
