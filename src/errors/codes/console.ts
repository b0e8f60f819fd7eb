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
    message: 'A one-time password is needed',
    meaning: 'The password is right; send it again with the `code` of the authenticator app.',
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
