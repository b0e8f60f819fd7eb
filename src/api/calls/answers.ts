/** What the routes of calls answer, as zod schemas for the published document (see `openapi/shared-answers.ts`). */

import { z } from 'zod';
import { CALL_STATUSES, ENDED_REASONS } from '../../../media/contract/call-outcome.ts';
import { RECOVERY_KINDS } from '../../../media/contract/conversation.ts';
import { TOOL_FAILURES } from '../../../media/contract/tools.ts';
import { USAGE_UNIT_NAMES } from '../../../media/contract/usage.ts';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import { SENTIMENTS } from '../../calls/findings.ts';
import { pageOf, time, uuid, wholeList } from '../openapi/shared-answers.ts';

const partStatus = z.enum(['none', 'pending', 'ready', 'failed', 'deleted']);
const endedReason = z.enum(Object.keys(ENDED_REASONS) as [string, ...string[]]).describe('Why it ended');
const seconds = z.number().min(0).describe('To a tenth');

const turn = z
  .strictObject({
    turnId: z.string(),
    role: z.enum(['agent', 'user']),
    startMs: z.number().describe('Since the media stream began'),
    endMs: z.number(),
    text: z.string().describe('What the agent meant to say, or what was recognised of the caller'),
    heardText: z.string().describe('Only what was played'),
    interrupted: z.boolean(),
    by: z
      .literal('person')
      .optional()
      .describe('A person at the console said it in the place of the agent; `text` is what was recognised of it'),
    kind: z.enum(['speech', 'backchannel', 'unclear']).optional(),
    unclear: z
      .strictObject({
        guess: z.string().nullable().describe('The phrase of the step that it sounded most like; null: like none'),
        confidence: z.number().min(0).max(1).nullable(),
      })
      .optional()
      .describe('Speech that the script did not expect; `text` is `[unclear]`. A guess for people: nothing acts on it'),
    intent: z.string().optional(),
    stepId: z.string().optional(),
    words: z.null().describe('Times of single words are not measured'),
  })
  .meta({ id: 'Turn' });

const toolUse = z
  .strictObject({
    name: z.string(),
    ms: z.int().nullable().describe('From the ask to the result; null while it is at work'),
    status: z.int().nullable().describe('Of HTTP, where there was an answer'),
    outcome: z.enum(['ok', 'failed', 'cancelled']).nullable(),
    error: z.enum(TOOL_FAILURES).nullable(),
    toolCallId: z.string(),
    startedAt: time,
  })
  .meta({
    id: 'ToolUse',
    description: 'A use of a custom tool. Neither what was asked nor what was answered is kept.',
  });

const recording = z
  .strictObject({
    status: partStatus,
    url: z.url().nullable().describe('Signed; needs no key while it lives'),
    urlExpiresAt: time.nullable(),
    format: z.literal('ogg_opus').nullable(),
    channels: z.int().nullable().describe('Left: the caller; right: the agent'),
    sampleRate: z.int().nullable(),
    durationSeconds: z.number().nullable(),
    sizeBytes: z.int().nullable(),
    sha256: z.string().nullable(),
    parts: z
      .array(
        z.strictObject({
          url: z.url(),
          urlExpiresAt: time,
          startSeconds: z.number().describe('Its place in the recording of the whole call'),
          durationSeconds: z.number(),
          sizeBytes: z.int(),
          sha256: z.string(),
          variants: z.strictObject({ mono: z.url(), caller: z.url(), agent: z.url() }),
        }),
      )
      .describe('One for each stream: more than one when the call came back after a fault of ours'),
  })
  .meta({ id: 'Recording' });

const warning = z
  .strictObject({
    code: z.string(),
    key: z.string().nullable().describe('Of what: the placeholder that had no value'),
    count: z.int().min(1).describe('How often it was met'),
  })
  .meta({ id: 'CallWarning', description: 'What went wrong without ending the call.' });

const recovery = z
  .strictObject({
    what: z
      .enum([...RECOVERY_KINDS, 'media_stream'])
      .describe(
        'What was lost, or was late (`_hedge`: the next was asked too; `_fallback`: the next was asked instead)',
      ),
    at: time.nullable().describe('When it went on; null once the events of the call are deleted'),
    atMs: z.number().nullable().describe('On the clock of the stream'),
    gapMs: z
      .number()
      .nullable()
      .describe('For how long nothing was heard, or whoever was late or failed was waited for; null: not measured'),
    message: z.string().nullable().describe('For people; null: there is nothing to add'),
  })
  .meta({ id: 'Recovery' });

const cost = z
  .strictObject({
    currency: z.string().nullable().describe('Null: nothing that was used has a price'),
    total: z.number().nullable().describe('Of what has a price, to a millionth'),
    isComplete: z.boolean().describe('False: some of `usage` has no price, and is not in `total`'),
    items: z.array(z.strictObject({ kind: z.enum(['stt', 'llm', 'tts']), amount: z.number() })),
    usage: z.array(
      z.strictObject({
        connection: z.string(),
        version: z.int(),
        provider: z.string(),
        model: z.string(),
        unit: z.enum(USAGE_UNIT_NAMES),
        quantity: z.number(),
        speculative: z
          .number()
          .describe('Of `quantity`, what was thrown away because the caller went on; it costs too'),
        isEstimate: z
          .boolean()
          .describe('Some of it is estimated: of a request that was taken back no provider says what it counted'),
        amount: z.number().nullable().describe('Null: it has no price'),
      }),
    ),
  })
  .meta({ id: 'CallCost', description: 'At the prices of the operator that held when it was used.' });

const evidence = z.strictObject({ turnId: z.string(), quote: z.string() }).meta({ id: 'Evidence' });

export const callAnswer = z
  .strictObject({
    callUuid: uuid,
    enterprise: z.string(),
    agentId: uuid,
    agentVersion: z.int(),
    leadId: uuid.nullable(),
    campaignId: z.null(),
    channel: z.enum(['phone', 'web']),
    direction: z.enum(['outbound', 'inbound']),
    to: z.string(),
    from: uuid.nullable().describe('The phone number record; null for a web session'),
    fromNumber: z.string(),
    name: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    status: z.enum(CALL_STATUSES),
    endedReason: endedReason.nullable(),
    hangupBy: z.enum(['caller', 'agent', 'operator', 'carrier', 'platform']).nullable(),
    fault: z.enum(['none', 'client', 'callee', 'carrier', 'provider', 'platform']).nullable(),
    sipCode: z.int().nullable(),
    error: z
      .strictObject({
        code: z.string(),
        message: z.string(),
        provider: z.string().nullable().describe('The carrier or engine at fault'),
        retryable: z
          .boolean()
          .describe('The same call may be placed again as it is; false once a phone rang or was answered'),
      })
      .nullable()
      .describe('Of a call that failed'),
    answeredBy: z.enum(['human', 'machine', 'ivr', 'unknown']).nullable(),
    answeredByConfidence: z.null().describe('Not measured'),
    createdAt: time,
    dialedAt: time.nullable(),
    ringingAt: time.nullable(),
    answeredAt: time.nullable(),
    endedAt: time.nullable(),
    ringSeconds: seconds.nullable(),
    durationSeconds: seconds.nullable(),
    recording,
    transcriptStatus: partStatus,
    transcript: z.string().nullable().describe('Only what was heard'),
    turns: z.array(turn),
    analysisStatus: partStatus,
    summary: z.string().nullable().describe('1 to 4 sentences'),
    intent: z.string().nullable().describe("One of the agent's labels, or of the default list"),
    intentConfidence: z.number().min(0).max(1).nullable(),
    sentiment: z.enum(SENTIMENTS).nullable().describe('Of the caller'),
    successful: z.boolean().nullable().describe('Null: not to be told from what was said'),
    successReason: z.string().nullable(),
    disposition: z.string().nullable().describe("The script's own word at its end"),
    data: z.record(z.string(), z.unknown()).describe("What the script caught, and what fits the agent's schema"),
    evidence: z.array(evidence).describe('Quotes that stand in the turns, letter for letter'),
    analysisModel: z.string().nullable().describe('Who read the call: `parley-heuristic-1`, or a language model'),
    latency: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Spreads in ms from the end of the last sound of the caller'),
    quality: z.null().describe('Not measured'),
    interruptions: z.strictObject({
      byUser: z.int(),
      falseBargeIns: z
        .int()
        .nullable()
        .describe('Times that the agent paused for what was no interruption, and went on; null: not measured'),
    }),
    tools: z.array(toolUse),
    cost: cost.nullable().describe('Of what the call used of its providers; null: it used none'),
    warnings: z.array(warning),
    recovery: z
      .array(recovery)
      .describe('How it went on after what carried it was lost; `hasRecovery` finds such calls'),
    compliance: z.strictObject({ permitId: uuid, window: z.string().nullable() }).nullable(),
    webhooks: z.strictObject({ delivered: z.int(), pending: z.int() }),
  })
  .meta({
    id: 'Call',
    description: 'One entry of the call log. What is not known yet is null or empty, never absent.',
  });

export const callsAnswer = pageOf(callAnswer).meta({ id: 'Calls' });

export const transcriptAnswer = z
  .strictObject({ callUuid: uuid, transcriptStatus: partStatus, transcript: z.string(), turns: z.array(turn) })
  .meta({ id: 'Transcript' });

export const deletedAnswer = z
  .strictObject({ success: z.literal(true), callUuid: uuid, deleted: z.array(z.enum(CALL_PARTS)) })
  .meta({ id: 'DeletedParts' });

export const controlAnswer = z
  .strictObject({ success: z.literal(true), callUuid: uuid, action: z.string() })
  .meta({ id: 'Controlled' });

export const hangupAnswer = z
  .strictObject({ success: z.literal(true), callUuid: uuid, status: z.enum(CALL_STATUSES) })
  .meta({ id: 'HangUp' });

export const eventsAnswer = wholeList(
  z
    .strictObject({ id: z.string(), at: time, kind: z.string(), data: z.record(z.string(), z.unknown()) })
    .meta({ id: 'CallEvent' }),
).meta({ id: 'CallEvents' });
