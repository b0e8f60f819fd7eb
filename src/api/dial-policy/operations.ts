/** The dial policy, described for the published document. */
import { z } from 'zod';
import { NUMBER_KINDS } from '../../dialling/number-kinds.ts';
import type { ErrorCode } from '../error-codes.ts';
import { BODY, COMMON, json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { time } from '../openapi/shared-answers.ts';
import { workspaceParams } from '../operator/workspace-routes.ts';
import { DIAL_POLICY_OF_WORKSPACE_PATH, DIAL_POLICY_PATH, dialPolicyBody } from './dial-policy-routes.ts';

const usage = {
  calls: z.int(),
  usedSeconds: z.int().describe('Talk of calls that are over'),
  reservedSeconds: z.int().describe('The longest that live calls may still become'),
};

const dialPolicyAnswer = z
  .strictObject({
    countries: z.array(z.string()).nullable().describe('Beside those of its lines; null: any'),
    blockedCountries: z.array(z.string()),
    kinds: z.array(z.enum(NUMBER_KINDS)).describe('Beside ordinary numbers'),
    maxCallSeconds: z.int().nullable(),
    callsPerDay: z.int().nullable(),
    minutesPerDay: z.int().nullable(),
    keyCallsPerDay: z.int().nullable(),
    keyMinutesPerDay: z.int().nullable(),
    lineCountries: z
      .array(z.string())
      .describe('Of lines that the operator added: every line may call them. A line may always call its own'),
    today: z
      .strictObject({
        ...usage,
        resetsAt: time,
        keys: z.array(z.strictObject({ keyId: z.string(), ...usage })).describe('That have called today'),
      })
      .nullable()
      .describe('Null: nothing is counted, because there are no ceilings'),
  })
  .meta({ id: 'DialPolicy' });

const OPERATED: readonly ErrorCode[] = [
  'workspace_not_found',
  'invalid_request',
  'unauthorized',
  'operator_only',
  'auth_rate_limit',
  'api_rate_limit',
  ...COMMON,
];
const operator = { ...none, tag: 'Operator', scope: 'operator', params: workspaceParams } as const;

export const dialPolicyOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: DIAL_POLICY_PATH,
    id: 'readDialPolicy',
    tag: 'Directory',
    summary: 'What the operator lets the workspace dial, and what is left of the day',
    description: 'No key of the workspace changes it; its calling settings narrow it.',
    scope: 'calls:read',
    answers: { 200: json('The policy.', dialPolicyAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...operator,
    method: 'get',
    route: DIAL_POLICY_OF_WORKSPACE_PATH,
    id: 'readWorkspaceDialPolicy',
    summary: 'What a workspace may dial, and what it has had of the day',
    description: 'A new workspace calls ordinary numbers in the countries of its lines.',
    answers: { 200: json('The policy.', dialPolicyAnswer, RATE_HEADERS) },
    errors: OPERATED,
  },
  {
    ...operator,
    method: 'patch',
    route: DIAL_POLICY_OF_WORKSPACE_PATH,
    id: 'changeWorkspaceDialPolicy',
    summary: 'Allow countries and kinds of numbers; set the longest call and the ceilings of a day',
    description: 'Only what is given; it holds for the next dial, and live calls go on.',
    body: dialPolicyBody,
    answers: {
      200: json(
        'The policy.',
        z.strictObject({ success: z.literal(true), dialPolicy: dialPolicyAnswer }).meta({ id: 'StoredDialPolicy' }),
        RATE_HEADERS,
      ),
    },
    errors: [...OPERATED, ...BODY],
  },
];
