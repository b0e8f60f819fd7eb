/**
 * An OpenID provider on this machine, over the real protocol: discovery, its keys, the page at which people say who
 * they are (they are whom the test names), tokens for codes with PKCE, and what it knows of a person. A test may let it
 * lie.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import type { OpenIdSettings } from '../../src/config/openid-settings.ts';
import { createOpenIdProvider } from '../../src/users/openid/openid-provider.ts';

export interface EmulatedPerson {
  sub: string;
  email?: string | undefined;
  email_verified?: boolean | undefined;
  name?: string;
  groups?: string[];
}

/** What it signs other than it should. */
export interface TokenLies {
  claims?: Record<string, unknown>;
  /** `none`; `public`: HS256 with the public key as the secret; `stranger`: with a key that is not published. */
  signed?: 'none' | 'public' | 'stranger';
}

export interface OpenIdEmulator {
  issuer: string;
  /** Who is at the provider's page; null: somebody who says no. */
  person: EmulatedPerson | null;
  lies: TokenLies;
  /** What it tells at the userinfo endpoint alone. */
  isSilentInToken: boolean;
  /** Paths that it was asked, in order. */
  asked: string[];
  /** What a browser does with an address of ours at the provider: says who it is, and comes back to this one. */
  visit(authorizationUrl: string): Promise<string>;
  close(): Promise<void>;
}

interface Code {
  person: EmulatedPerson;
  nonce: string;
  challenge: string;
  redirectUri: string;
}

export const CLIENT = { id: 'parley', secret: 'secret-of-the-client' };

/** The service's side of it, with its guarded client. */
export function providerAt({ issuer }: OpenIdEmulator, change: Partial<OpenIdSettings> = {}) {
  const settings: OpenIdSettings = {
    ...{ issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, name: 'Example', scope: 'openid email' },
    ...{ domains: ['example.com'], rolesClaim: 'groups', roles: [], allowCidrs: ['127.0.0.1/32'] },
    ...change,
  };
  const guard = createAddressGuard(settings.allowCidrs, 'OIDC_ALLOW_CIDRS');
  return createOpenIdProvider(settings, {
    http: createGuardedClient({ guard, clock: systemClock }),
    clock: systemClock,
  });
}

export async function startOpenIdEmulator(): Promise<OpenIdEmulator> {
  const pair = await generateKeyPair('RS256', { extractable: true });
  const stranger = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const publicPem = await exportSPKI(pair.publicKey);
  const codes = new Map<string, Code>();
  const people = new Map<string, EmulatedPerson>();

  async function idToken({ person, nonce }: Code): Promise<string> {
    const { lies, issuer, isSilentInToken } = emulator;
    const nowSeconds = Math.floor(Date.now() / 1000);
    const { sub, ...more } = person;
    const claims = {
      ...{ iss: issuer, aud: CLIENT.id, sub, nonce, iat: nowSeconds, exp: nowSeconds + 300 },
      ...(isSilentInToken ? {} : more),
      ...lies.claims,
    };
    if (lies.signed === 'none') return new UnsecuredJWT(claims).encode();
    if (lies.signed === 'public') {
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(new TextEncoder().encode(publicPem));
    }
    const key: CryptoKey = lies.signed === 'stranger' ? stranger.privateKey : pair.privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key);
  }

  function authorize(query: URLSearchParams): string {
    const back = new URL(query.get('redirect_uri')!);
    back.searchParams.set('state', query.get('state') ?? '');
    back.searchParams.set('iss', emulator.issuer);
    const { person } = emulator;
    const isAsked = query.get('response_type') === 'code' && query.get('client_id') === CLIENT.id;
    const challenge = query.get('code_challenge');
    if (person === null || !isAsked || challenge === null || query.get('code_challenge_method') !== 'S256') {
      back.searchParams.set('error', person === null ? 'access_denied' : 'invalid_request');
      return back.href;
    }
    const code = randomBytes(16).toString('hex');
    codes.set(code, { person, nonce: query.get('nonce') ?? '', challenge, redirectUri: query.get('redirect_uri')! });
    back.searchParams.set('code', code);
    return back.href;
  }

  async function token(authorization: string | undefined, body: URLSearchParams): Promise<[number, object]> {
    const basic = Buffer.from((authorization ?? '').replace('Basic ', ''), 'base64').toString();
    // Both are form-encoded before they are joined (RFC 6749 §2.3.1).
    const [id, secret] = basic.split(':').map(decodeURIComponent);
    if (id !== CLIENT.id || secret !== CLIENT.secret) return [401, { error: 'invalid_client' }];
    const code = codes.get(body.get('code') ?? '');
    codes.delete(body.get('code') ?? '');
    const proof = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || proof !== code.challenge || body.get('redirect_uri') !== code.redirectUri)
      return [400, { error: 'invalid_grant' }];
    const access = randomBytes(16).toString('hex');
    people.set(access, code.person);
    return [200, { access_token: access, token_type: 'Bearer', expires_in: 300, id_token: await idToken(code) }];
  }

  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url!, emulator.issuer);
      emulator.asked.push(url.pathname);
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const answer = (status: number, json: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      const { issuer } = emulator;
      switch (url.pathname) {
        case '/.well-known/openid-configuration':
          return answer(200, {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
            userinfo_endpoint: `${issuer}/me`,
            end_session_endpoint: `${issuer}/logout`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
            code_challenge_methods_supported: ['S256'],
            authorization_response_iss_parameter_supported: true,
          });
        case '/jwks':
          return answer(200, { keys: [jwk] });
        case '/authorize':
          return void response.writeHead(302, { location: authorize(url.searchParams) }).end();
        case '/token':
          return answer(...(await token(request.headers.authorization, new URLSearchParams(body))));
        case '/me':
          return answer(200, people.get((request.headers.authorization ?? '').replace('Bearer ', '')) ?? {});
        default:
          return answer(404, {});
      }
    })();
  });
  const emulator: OpenIdEmulator = {
    issuer: '',
    person: null,
    lies: {},
    isSilentInToken: false,
    asked: [],
    async visit(authorizationUrl) {
      const answer = await fetch(authorizationUrl, { redirect: 'manual' });
      return answer.headers.get('location')!;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  emulator.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return emulator;
}
