/** What the console's own operations answer, as zod schemas for the published document. */
import { z } from 'zod';
import { RIGHTS, ROLES } from '../../users/roles.ts';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

/** An answer without a body. */
export const nothing = (description: string, headers: Record<string, string> = {}) => ({
  description,
  content: {},
  headers,
});

export const SET_COOKIE = { 'Set-Cookie': 'The session' };

export const sessionAnswer = z
  .strictObject({
    user: z.strictObject({
      id: uuid,
      email: z.string(),
      name: z.string(),
      isOperator: z.boolean().describe('Of the whole installation'),
      hasPassword: z.boolean().describe('False: the person signs in with passkeys'),
      totp: z.boolean().describe('One-time passwords are asked for'),
      passkeys: z.int().describe('With one or more a password alone is not enough'),
    }),
    workspaces: z.array(
      z.strictObject({
        enterprise: z.string().describe('Its short name, as in paths'),
        name: z.string(),
        role: z.enum(ROLES),
        hears: z.boolean().describe('An analyst who may listen; all other roles may'),
        scopes: z.array(z.enum(RIGHTS)).describe('What the person may there'),
      }),
    ),
    expiresAt: time.describe('At the latest; 12 h after the last request before that'),
    signOutUrl: z
      .string()
      .nullable()
      .describe('Where the browser goes after signing out, to be signed out of the OpenID provider too; null: nowhere'),
    serverTime: time,
    version: z.string(),
    setup: z.strictObject({ firstUser: z.boolean().describe('There is nobody yet') }),
  })
  .meta({ id: 'ConsoleSession' });

export const linkAnswer = z
  .strictObject({
    purpose: z.enum(['first_user', 'invitation', 'reset']),
    email: z.string().nullable().describe('Null: who takes it says'),
    name: z.string().nullable(),
    workspace: z.strictObject({ enterprise: z.string(), name: z.string() }).nullable(),
    expiresAt: time,
  })
  .meta({ id: 'OneTimeLink' });

export const totpAnswer = z
  .strictObject({
    uri: z.string().describe('`otpauth://…`, as a QR code has it'),
    secret: z.string().describe('The same to type: base32'),
  })
  .meta({ id: 'OneTimePasswordSecret' });

export const sessionsAnswer = wholeList(
  z
    .strictObject({
      id: uuid,
      isThis: z.boolean().describe('The one that asks'),
      createdAt: time,
      lastSeenAt: time.describe('Last request; at most a minute late'),
      expiresAt: time,
      ip: z.string(),
      userAgent: z.string().describe('The browser, as it says'),
    })
    .meta({ id: 'PersonSession' }),
).meta({ id: 'PersonSessions' });

export const passkey = z
  .strictObject({
    id: uuid,
    name: z.string(),
    host: z.string().describe('Where it works'),
    isSynced: z.boolean().describe('Kept by a service of its maker, on more than one device'),
    createdAt: time,
    lastUsedAt: time.nullable().describe('Null: not since it was made'),
  })
  .meta({ id: 'Passkey' });
export const passkeysAnswer = wholeList(passkey).meta({ id: 'Passkeys' });
export const addedPasskeyAnswer = z.strictObject({ success: z.literal(true), passkey }).meta({ id: 'StoredPasskey' });
export const newPasskeyOptionsAnswer = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'NewPasskeyOptions', description: '`PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3' });
export const passkeyOptionsAnswer = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'PasskeyOptions', description: '`PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3' });

export const signInWaysAnswer = z
  .strictObject({
    openId: z
      .strictObject({ name: z.string().describe('What people call the provider') })
      .nullable()
      .describe('Null: there is none'),
  })
  .meta({ id: 'SignInWays' });
export const openIdUrlAnswer = z
  .strictObject({ url: z.string().describe('Where the browser goes') })
  .meta({ id: 'OpenIdUrl' });
export const identitiesAnswer = wholeList(
  z
    .strictObject({
      id: uuid,
      issuer: z.string().describe('The OpenID provider'),
      email: z.string().nullable().describe('As it last said'),
      createdAt: time,
      lastUsedAt: time.nullable(),
    })
    .meta({ id: 'PersonIdentity' }),
).meta({ id: 'PersonIdentities' });

const user = z
  .strictObject({
    id: uuid,
    email: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    hears: z.boolean(),
    isActive: z.boolean().describe('False: the invitation was not taken yet'),
    totp: z.boolean().describe('One-time passwords are asked for'),
    passkeys: z.int(),
    lastSeenAt: time.nullable().describe('Null: not in the last 30 days'),
    createdAt: time,
  })
  .meta({ id: 'User' });

const link = z.string().describe('Give it to the person; it is shown once, and works for a day');

export const usersAnswer = wholeList(user).meta({ id: 'Users' });
export const addedUserAnswer = z
  .strictObject({
    success: z.literal(true),
    user,
    link: link.nullable().describe('Null: the person has an account already, and signs in as before'),
  })
  .meta({ id: 'AddedUser' });
export const storedUserAnswer = z.strictObject({ success: z.literal(true), user }).meta({ id: 'StoredUser' });
export const resetUserAnswer = z.strictObject({ success: z.literal(true), user, link }).meta({ id: 'ResetUser' });

const rate = z.number().min(0).max(1).nullable();

export const overviewAnswer = z
  .strictObject({
    day: z.iso.date(),
    zone: z.string(),
    from: time,
    until: time,
    live: z.int().describe('Now, whatever the day'),
    placed: z.int(),
    answered: z.int(),
    completed: z.int(),
    failed: z.int(),
    noAnswer: z.int(),
    answerRate: rate.describe('Of calls that are over'),
    completionRate: rate.describe('Of calls that were answered and are over'),
    replyMs: z
      .strictObject({ p50: z.int(), p95: z.int(), count: z.int().describe('Calls') })
      .nullable()
      .describe("Over the calls' own medians, from the caller's last sound to the reply's first"),
    refusals: z
      .array(z.strictObject({ code: z.string(), count: z.int(), message: z.string() }))
      .describe('Requests that made no call'),
    notDialled: z.array(
      z.strictObject({
        reason: z.string().describe('An error code, or the reason with which calls ended'),
        of: z.enum(['service', 'requests', 'calls']).describe('What was counted; service: it holds now, for all'),
        count: z.int().nullable(),
        since: time.nullable().describe('Of the first that day'),
        last: time.nullable(),
        wayOut: z.string(),
      }),
    ),
    webhooks: z
      .strictObject({
        waiting: z.int(),
        oldestAt: time.nullable().describe('Of the oldest event that waits'),
        failingSince: time.nullable(),
        url: z.string().nullable(),
        enabled: z.boolean(),
      })
      .nullable()
      .describe('Null: there is no URL'),
    disk: z.strictObject({ freeBytes: z.number(), totalBytes: z.number() }).nullable(),
    notSetUp: z.array(
      z.strictObject({
        what: z.enum(['agent', 'line', 'api_access', 'key', 'webhook']),
        why: z.string(),
        wayOut: z.string(),
      }),
    ),
  })
  .meta({ id: 'Overview' });

const levels = z.array(z.int().min(0).max(255)).describe('The loudest of each stretch; 255 is full scale');

export const peaksAnswer = z
  .strictObject({ durationSeconds: z.number(), binMs: z.int().describe('Of a stretch'), caller: levels, agent: levels })
  .meta({ id: 'SoundPeaks' });

export const monitorAnswer = z
  .strictObject({
    token: z.string().describe('Good once'),
    path: z.string().describe('Of the socket, at this host'),
    expiresAt: time,
  })
  .meta({ id: 'MonitorToken' });
