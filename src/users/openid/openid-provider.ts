/**
 * The OpenID provider (OpenID Connect Core 1.0: code flow, with PKCE, state and nonce), by way of a library that is
 * read when the first person signs in so. Every request to it leaves by the guarded client. What it signed is held to
 * its published keys, also where it came straight from it.
 */
import type { Configuration } from 'openid-client';
import type { Clock } from '../../../media/contract/clock.ts';
import type { OutboundHttp, OutboundLimits } from '../../../media/net/outbound-http.ts';
import type { OpenIdSettings } from '../../config/openid-settings.ts';
import type { OpenIdRound } from './openid-round.ts';

/** What the provider says of somebody, as far as it matters here. */
export interface OpenIdClaims {
  issuer: string;
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
  /** Values of the claim that says who is what. */
  roleValues: readonly string[];
}

export interface OpenIdProvider {
  readonly settings: OpenIdSettings;
  /** Where the browser goes. Throws `OpenIdUnavailable`. */
  authorizationUrl(round: OpenIdRound, redirectUri: string): Promise<string>;
  /** `returned`: the whole address to which the browser came back. Throws `OpenIdRefused` and `OpenIdUnavailable`. */
  claimsOf(round: OpenIdRound, returned: URL): Promise<OpenIdClaims>;
  /** Where the browser signs out of the provider too; null: it has no such place, or was not asked yet. */
  signOutUrl(returnTo: string): string | null;
}

/** The provider's answer is none that counts, or the person said no. `reason` is for the log. */
export class OpenIdRefused extends Error {}
/** The provider does not answer, or is not set up as the settings say. */
export class OpenIdUnavailable extends Error {}

const LIMITS: OutboundLimits = {
  connectMs: 3_000,
  responseMs: 5_000,
  totalMs: 8_000,
  bodyMs: 3_000,
  maxResponseBytes: 512 * 1024,
};
/** What the provider says of itself is read again after this. */
const KNOWN_FOR_MS = 10 * 60_000;
/** After a failure it is left alone for a moment. */
const FAILED_FOR_MS = 5_000;
const CLOCK_SKEW_SECONDS = 30;

const library = () => import('openid-client');

export function createOpenIdProvider(
  settings: OpenIdSettings,
  { http, clock }: { http: Pick<OutboundHttp, 'send'>; clock: Clock },
): OpenIdProvider {
  let known: { configuration: Promise<Configuration>; untilMs: number } | null = null;
  let endSession: string | null = null;

  async function configuration(): Promise<Configuration> {
    if (known === null || clock.nowMs() >= known.untilMs) {
      const asked = { configuration: discover(settings, http), untilMs: clock.nowMs() + KNOWN_FOR_MS };
      known = asked;
      asked.configuration.then(
        (found) => {
          endSession = found.serverMetadata().end_session_endpoint ?? null;
        },
        () => {
          asked.untilMs = clock.nowMs() + FAILED_FOR_MS;
        },
      );
    }
    try {
      return await known.configuration;
    } catch (error) {
      throw new OpenIdUnavailable(reasonOf(error));
    }
  }

  return {
    settings,
    async authorizationUrl(round, redirectUri) {
      const found = await configuration();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library();
      const url = buildAuthorizationUrl(found, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: round.state,
        nonce: round.nonce,
        code_challenge: await calculatePKCECodeChallenge(round.codeVerifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    async claimsOf(round, returned) {
      const found = await configuration();
      const { authorizationCodeGrant, fetchUserInfo } = await library();
      try {
        const tokens = await authorizationCodeGrant(found, returned, {
          expectedState: round.state,
          expectedNonce: round.nonce,
          pkceCodeVerifier: round.codeVerifier,
          idTokenExpected: true,
        });
        const said = tokens.claims()!;
        const { rolesClaim } = settings;
        const isWhole = said['email'] !== undefined && (rolesClaim === null || said[rolesClaim] !== undefined);
        const more =
          isWhole || found.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await fetchUserInfo(found, tokens.access_token, said.sub);
        return claimsIn({ ...more, ...said }, settings);
      } catch (error) {
        throw new OpenIdRefused(reasonOf(error));
      }
    },
    signOutUrl(returnTo) {
      if (endSession === null) return null;
      const url = new URL(endSession);
      url.searchParams.set('client_id', settings.clientId);
      url.searchParams.set('post_logout_redirect_uri', returnTo);
      return url.href;
    },
  };
}

async function discover(settings: OpenIdSettings, http: Pick<OutboundHttp, 'send'>): Promise<Configuration> {
  const {
    allowInsecureRequests,
    ClientSecretBasic,
    clockTolerance,
    customFetch,
    discovery,
    enableNonRepudiationChecks,
    None,
  } = await library();
  const issuer = new URL(settings.issuer);
  const { clientSecret } = settings;
  const isPlain = issuer.protocol === 'http:';
  return discovery(
    issuer,
    settings.clientId,
    { [clockTolerance]: CLOCK_SKEW_SECONDS },
    clientSecret === null ? None() : ClientSecretBasic(clientSecret),
    {
      [customFetch]: guardedFetch(http),
      // Plain http is spoken only inside of the ranges that the operator named: the guarded client holds it to that.
      execute: isPlain ? [allowInsecureRequests, enableNonRepudiationChecks] : [enableNonRepudiationChecks],
    },
  );
}

/** As the library asks, by the way out that every address of a user's takes. Redirects are not followed. */
function guardedFetch(http: Pick<OutboundHttp, 'send'>) {
  return async (url: string, options: { method?: string; headers?: object; body?: unknown }): Promise<Response> => {
    const { method = 'GET', headers = {}, body } = options;
    if (method !== 'GET' && method !== 'POST') throw new Error(`${method} is not asked of a provider`);
    const answer = await http.send({
      url,
      method,
      headers: headersOf(headers),
      body: Buffer.from(body === undefined || body === null ? '' : String(body)),
      limits: LIMITS,
    });
    if (answer.kind !== 'answered') throw new Error(`${new URL(url).origin}: ${answer.reason}`);
    if (answer.isBodyWhole === false) throw new Error(`${new URL(url).origin}: the answer was too long, or broke off`);
    // The guarded client does not tell types; what is none of JSON does not parse.
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': 'application/json' } });
  };
}

const headersOf = (headers: object): Record<string, string> =>
  Object.fromEntries(new Headers(headers as Record<string, string>).entries());

function claimsIn(said: Record<string, unknown>, { rolesClaim }: OpenIdSettings): OpenIdClaims {
  const text = (name: string): string | null => {
    const value = said[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };
  const roles = rolesClaim === null ? [] : said[rolesClaim];
  return {
    issuer: String(said['iss']),
    subject: String(said['sub']),
    email: text('email'),
    // Some say it as a text.
    isEmailVerified: said['email_verified'] === true || said['email_verified'] === 'true',
    name: text('name') ?? text('preferred_username'),
    roleValues: (Array.isArray(roles) ? roles : [roles]).filter((one): one is string => typeof one === 'string'),
  };
}

/** With what lies below: the library's own sentences are general. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const below = cause instanceof Error ? `: ${cause.message}` : '';
  return `${message}${below}`;
}
