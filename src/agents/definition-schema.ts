/**
 * The shape of an agent's JSON (contract §18), as strict zod objects: a misspelt field is a fault, not a silence. Held
 * equal to `media/contract/agent-definition.ts` by the compiler, both ways. Meaning is checked in `script-check.ts`.
 */
import { z } from 'zod';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { cascade } from './cascade-schema.ts';
import {
  analysis,
  direction,
  LONGEST_LINE,
  LONGEST_TEXT,
  label,
  line,
  maxDurationSeconds,
  milliseconds,
  spokenLine,
  text,
  variable,
} from './schema-parts.ts';
import { tool, toolName } from './tool-schema.ts';

const STEP_ID = /^[A-Za-z0-9_-]{1,64}$/;

const stepId = z.string().regex(STEP_ID, 'must be 1 to 64 letters, digits, _ or -');

const reply = z.strictObject({
  intent: label,
  phrases: z.array(line).min(1, 'must hold at least one phrase'),
  set: z.record(variable, z.string().max(LONGEST_LINE)).exactOptional(),
  goto: stepId.exactOptional(),
});

const toolUse = z.strictObject({
  name: toolName,
  arguments: z.record(z.string(), z.string()).exactOptional(),
  saying: line.exactOptional(),
  goto: stepId,
  onError: stepId.exactOptional(),
});

const step = z.strictObject({
  id: stepId,
  say: z.union([spokenLine, z.array(spokenLine).min(1, 'must hold at least one line')]).exactOptional(),
  interruptible: z.boolean().exactOptional(),
  expect: z.enum(['open', 'yesno', 'digits', 'spelling', 'none']).exactOptional(),
  replies: z.array(reply).exactOptional(),
  goto: stepId.exactOptional(),
  tool: toolUse.exactOptional(),
  end: z.strictObject({ reason: z.string(), disposition: label.exactOptional() }).exactOptional(),
});

const scripted = z.strictObject({
  kind: z.literal('scripted'),
  name: label,
  direction,
  language: z.literal('en-US', { error: 'must be "en-US", the only language that the local engines know' }),
  voice: z.string(),
  voiceActivity: z.enum(['gate', 'neural'], { error: 'must be "gate" or "neural"' }).exactOptional(),
  script: text(LONGEST_TEXT),
  greeting: spokenLine,
  steps: z.array(step).min(1, 'must hold at least one step').max(500, 'must hold at most 500 steps'),
  fallback: z.strictObject({
    say: z.array(spokenLine).min(1, 'must hold at least one line'),
    after: z.int().min(1, 'must be at least 1').max(10, 'must be at most 10'),
    goto: stepId,
  }),
  idle: z.strictObject({ promptAfterMs: milliseconds, say: z.array(spokenLine), endAfterMs: milliseconds }),
  maxDurationSeconds: maxDurationSeconds.exactOptional(),
  defaults: z.record(variable, z.string().max(LONGEST_LINE)).exactOptional(),
  intents: z.array(label).max(50, 'must hold at most 50 labels').exactOptional(),
  analysis: analysis.exactOptional(),
  tools: z.array(tool).max(50, 'must hold at most 50 tools').exactOptional(),
});

const tone = z.strictObject({
  kind: z.literal('tone'),
  name: label,
  direction,
  toneHz: z.number().min(50, 'must be at least 50').max(3_400, 'must be at most 3400 (a phone line carries no more)'),
  maxDurationSeconds: maxDurationSeconds.exactOptional(),
});

export const agentDefinitionSchema = z.discriminatedUnion('kind', [scripted, cascade, tone], {
  error: (issue) => (issue.code === 'invalid_union' ? 'must be "scripted", "cascade" or "tone"' : undefined),
});

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = T extends object ? { [Key in keyof T]: Flat<T[Key]> } : T;
/** Does not compile when the schema and the contract's types part. */
const _schemaEqualsContract: Equal<Flat<z.infer<typeof agentDefinitionSchema>>, Flat<AgentDefinition>> = true;
void _schemaEqualsContract;
