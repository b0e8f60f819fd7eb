/** What the routes of connections answer, as zod schemas for the published document. */
import { z } from 'zod';
import { PROVIDER_NAMES } from '../../../media/contract/providers.ts';
import { TRIAL_FAULTS } from '../../connections/provider-trial.ts';
import { time, wholeList } from '../openapi/shared-answers.ts';

const limit = z.int().min(1).optional();

const facts = {
  name: z.string(),
  version: z.int().describe('Raised by every change; a call keeps the one that it began with'),
  provider: z.enum(PROVIDER_NAMES),
  baseUrl: z.string(),
  hasCredentials: z.boolean().describe('They are write-only'),
  limits: z.strictObject({ concurrent: limit, requestsPerMinute: limit, tokensPerMinute: limit }),
  settings: z.record(z.string(), z.union([z.string(), z.boolean()])),
  createdAt: time.describe('Of this version'),
};

export const connectionAnswer = z.strictObject(facts).meta({ id: 'Connection' });
export const connectionsAnswer = wholeList(connectionAnswer).meta({ id: 'Connections' });
export const connectionVersionsAnswer = wholeList(
  z.strictObject({ ...facts, isNewest: z.boolean().describe('New calls use it') }),
).meta({ id: 'ConnectionVersions' });
export const storedConnectionAnswer = z
  .strictObject({ success: z.literal(true), connection: connectionAnswer })
  .meta({ id: 'StoredConnection' });

export const connectionTrialAnswer = z
  .strictObject({
    ok: z.boolean(),
    version: z.int().describe('The one that was tried'),
    ms: z.int(),
    fault: z.enum(TRIAL_FAULTS).nullable(),
    problem: z.string().nullable().describe('What is wrong, for a person'),
    models: z.array(z.string()).nullable().describe('The first hundred, where the provider lists them'),
  })
  .meta({ id: 'ConnectionTrial' });

const declared = z.strictObject({ name: z.string(), about: z.string() });

export const providersAnswer = wholeList(
  z.strictObject({
    provider: z.enum(PROVIDER_NAMES),
    title: z.string(),
    can: z.array(z.enum(['listen', 'think', 'speak'])),
    defaultBaseUrl: z.string(),
    credentials: z.array(z.strictObject({ ...declared.shape, required: z.boolean() })),
    settings: z.array(z.strictObject({ ...declared.shape, type: z.enum(['boolean', 'text']) })),
    limits: z.array(z.enum(['concurrent', 'requestsPerMinute', 'tokensPerMinute'])),
    engines: z
      .array(
        z.strictObject({
          name: z.string().describe("An agent's `engine`"),
          can: z.enum(['listen', 'think', 'speak']),
          settings: z.array(
            z.strictObject({
              ...declared.shape,
              type: z.enum(['boolean', 'text', 'number']),
              least: z.number().optional(),
              most: z.number().optional(),
            }),
          ),
        }),
      )
      .describe("By which agents use such a connection, each with what an agent's `settings` may have"),
  }),
).meta({ id: 'Providers' });
