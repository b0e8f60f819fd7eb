/** The codes of the console: sessions of people, their roles and their links. */
import type { CodeFacts } from '../code-facts.ts';

export const CONSOLE_CODES = {
  session_needed: {
    status: 401,
    message: 'Nobody is signed in',
    meaning:
      'There is no session, or it has ended: 12 h after its last request, 7 days after the sign-in, or because it was revoked. Sign in again.',
  },
  wrong_credentials: {
    status: 401,
    message: 'E-mail address, password or code is wrong',
    meaning: 'Which of them is not said. Who has forgotten the password asks an owner or admin for a link.',
  },
  second_factor_needed: {
    status: 401,
    message: 'A second factor is needed',
    meaning:
      'The password is right. Send it again with what `details` names: the `code` of the authenticator app, or a `passkey` that has answered what `POST /api/console/session/passkey/options` asks.',
  },
  wrong_passkey: {
    status: 401,
    message: 'This passkey signs nobody in here',
    meaning:
      'It was removed, belongs to another address, has not asked for a finger, a face or a PIN, is a copy of one that was used since, or answers what was asked more than five minutes ago, or once already. Ask anew, or sign in with a password.',
  },
  passkeys_unavailable: {
    status: 403,
    message: 'Passkeys do not work at this address',
    meaning:
      'They belong to a name: open the console at PUBLIC_URL, which must be https with a host name, or at http://localhost; not at an IP address.',
  },
  sign_in_again: {
    status: 403,
    message: 'Sign in once more first',
    meaning:
      'This is asked of somebody without a password within ten minutes of a sign-in: sign out and in, then do it again.',
  },
  sign_in_limit: {
    status: 429,
    message: 'Too many tries',
    meaning:
      'More than 20 tries in a minute from this address, or more than ten at one person from it: repeat after Retry-After. Other addresses are not shut.',
  },
  sign_in_busy: {
    status: 503,
    message: 'Too many sign-ins',
    meaning: 'More passwords wait to be looked at than can be in time; repeat after Retry-After.',
  },
  cross_site_request: {
    status: 403,
    message: 'The request comes from another site',
    meaning:
      'What changes something is taken from pages of this service alone: `Sec-Fetch-Site` must be `same-origin` or, where a browser sends none, `Origin` this host.',
  },
  insecure_address: {
    status: 403,
    message: 'The console needs https, or localhost',
    meaning: 'A session would be readable on the way. Set PUBLIC_URL to an https address, or open http://localhost.',
  },
  role_insufficient: {
    status: 403,
    message: 'Your role does not allow this',
    meaning: '`details` names the right that is needed; an owner or admin of the workspace changes roles.',
  },
  masked_filter: {
    status: 403,
    message: 'Your role does not see numbers',
    meaning: 'So it cannot look for them either: leave the digits out of the filters that `details` names.',
  },
  link_not_found: {
    status: 404,
    message: 'Link not found',
    meaning: 'It is unknown, was used, was replaced by a newer one, or is older than 24 h. Ask for another.',
  },
  view_not_found: {
    status: 404,
    message: 'View not found',
    meaning: 'There is no such view, or it is somebody else’s and your role does not change those.',
  },
  user_not_found: { status: 404, message: 'User not found', meaning: 'The workspace has no user of this id.' },
  openid_off: {
    status: 404,
    message: 'There is no OpenID provider',
    meaning: 'The operator of the service sets one up: OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET.',
  },
  openid_unavailable: {
    status: 503,
    message: 'The OpenID provider does not answer',
    meaning:
      'Repeat after Retry-After, or sign in otherwise. The log of the service says why: the address, its certificate, a private range that OIDC_ALLOW_CIDRS does not name, another issuer than OIDC_ISSUER.',
  },
  openid_refused: {
    status: 403,
    message: 'The OpenID provider signed nobody in',
    meaning:
      'The person said no there, took more than ten minutes, came back in another browser or a second time, or what came back was not signed as it must be; the log of the service says which.',
  },
  openid_email_refused: {
    status: 403,
    message: 'That e-mail address lets nobody in',
    meaning:
      'The provider does not say that the address is verified (`email_verified`), or it is of no domain of OIDC_ALLOWED_DOMAINS.',
  },
  openid_not_invited: {
    status: 403,
    message: 'Nobody here is known by that account',
    meaning:
      'An owner or admin invites the person by the same e-mail address; or a value of OIDC_ROLES_CLAIM gives a role.',
  },
  openid_not_linked: {
    status: 403,
    message: 'That account is not linked to the person here',
    meaning:
      'There is a person of this e-mail address who signs in otherwise. Sign in so, and add the account in Settings, Your account; an equal address alone opens nothing.',
  },
  openid_taken: {
    status: 409,
    message: 'That account signs in somebody else here',
    meaning: 'An account at the provider belongs to one person: remove it there, or use another.',
  },
  identity_not_found: { status: 404, message: 'Account not found', meaning: 'You have no such account any more.' },
  passkey_not_found: { status: 404, message: 'Passkey not found', meaning: 'You have no such passkey any more.' },
  session_not_found: { status: 404, message: 'Session not found', meaning: 'You have no such session any more.' },
  last_owner: {
    status: 409,
    message: 'The last owner stays',
    meaning: 'A workspace has at least one owner: make somebody else one first.',
  },
  wrong_password: { status: 403, message: 'The password is wrong', meaning: 'It is asked for once more, to be sure.' },
  wrong_code: {
    status: 400,
    message: 'The code is wrong',
    meaning:
      'It is none of the authenticator app, or was used; look at the clock of the device, and take the next one.',
  },
} as const satisfies Record<string, CodeFacts>;
