/**
 * What Gemini is asked (`POST {base}/v1beta/models/{model}:streamGenerateContent`): address, body and headers of one
 * request, and how its models differ. Pure.
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import { geminiModelPath } from '../../contract/gemini-model-path.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ModelRequest, ModelTool } from '../../contract/model.ts';
import { takenName } from '../provider/sayable-history.ts';
import { contentsOf, systemOf } from './contents.ts';

/** Of `EngineUse.settings`; checked where the agent was imported. Absent: as the provider has it. */
export interface GeminiSettings extends EngineSettings<'think', 'gemini'> {
  model: string;
  temperature?: number;
}

/** Found out by asking: what a model does not take is left out, or said otherwise, from then on. */
export interface GenerateForm {
  /** How far down `LEAST_THINKING` the model was followed. */
  thinkingStep: number;
  takesSampling: boolean;
  /** Some refuse their own after a while, or those that a server before them changed. */
  sendsSignatures: boolean;
}

type Thinking = { thinkingLevel: string } | { thinkingBudget: number } | null;

/** As little as a model lets itself be told, for nobody waits for thoughts on a telephone; null: nothing is said. */
const LEAST_THINKING: readonly Thinking[] = [{ thinkingLevel: 'MINIMAL' }, { thinkingLevel: 'LOW' }, null];
/** Of the generation that knows tokens alone; its largest takes no less than the second. */
const LEAST_BUDGET: readonly Thinking[] = [{ thinkingBudget: 0 }, { thinkingBudget: 128 }, null];
const NO_THINKING: readonly Thinking[] = [null];
/** Thoughts are counted with the answer, which would have no room beside them: so many tokens more are allowed. */
const ROOM_TO_THINK_TOKENS = 2_048;
const LITTLE_ROOM_TOKENS = 256;

export const FIRST_FORM: GenerateForm = { thinkingStep: 0, takesSampling: true, sendsSignatures: true };

/** Another form that may suit a model that refused this one with these words; null: it is not the form. */
export function otherGenerateForm(form: GenerateForm, said: string): GenerateForm | null {
  if (form.sendsSignatures && /thought[ _]?signature/i.test(said)) return { ...form, sendsSignatures: false };
  if (form.thinkingStep < LEAST_THINKING.length - 1 && /thinking|budget/i.test(said))
    return { ...form, thinkingStep: form.thinkingStep + 1 };
  if (form.takesSampling && /\b(temperature|top_?p)\b/i.test(said)) return { ...form, takesSampling: false };
  return null;
}

export function generateUrl({ baseUrl }: ConnectionGrant, { model }: GeminiSettings): string {
  return `${baseUrl.replace(/\/+$/, '')}/${geminiModelPath(model)}:streamGenerateContent?alt=sse`;
}

export function geminiHeaders({ credentials }: Pick<ConnectionGrant, 'credentials'>): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'Parley/1',
    'x-goog-api-key': credentials['apiKey'] ?? '',
  };
}

export function generateBody(
  request: ModelRequest,
  settings: GeminiSettings,
  { thinkingStep, takesSampling, sendsSignatures }: GenerateForm,
): Record<string, unknown> {
  const { model, temperature, topP } = settings;
  const { messages, tools, toolChoice, maxTokens } = request;
  const system = systemOf(messages);
  const thinking = thinkingOf(settings, thinkingStep);
  return {
    contents: contentsOf(messages, { model, sendsSignatures, wantsSignatures: generationOf(model) >= 3 }),
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length === 0
      ? {}
      : {
          tools: [{ functionDeclarations: tools.map(declared) }],
          toolConfig: { functionCallingConfig: { mode: toolChoice === 'none' ? 'NONE' : 'AUTO' } },
        }),
    generationConfig: {
      maxOutputTokens: maxTokens + roomFor(thinking, model),
      ...(takesSampling && temperature !== undefined ? { temperature } : {}),
      ...(takesSampling && topP !== undefined ? { topP } : {}),
      ...(thinking === null ? {} : { thinkingConfig: thinking }),
    },
  };
}

function thinkingOf({ model, thinkingLevel }: GeminiSettings, step: number): Thinking {
  if (thinkingLevel !== undefined) return { thinkingLevel: thinkingLevel.toUpperCase() };
  const generation = generationOf(model);
  const ladder = generation < 2.5 ? NO_THINKING : generation < 3 ? LEAST_BUDGET : LEAST_THINKING;
  return ladder[Math.min(step, ladder.length - 1)]!;
}

function roomFor(thinking: Thinking, model: string): number {
  if (thinking === null) return generationOf(model) < 2.5 ? 0 : ROOM_TO_THINK_TOKENS;
  if ('thinkingBudget' in thinking) return thinking.thinkingBudget;
  return thinking.thinkingLevel === 'MINIMAL' ? LITTLE_ROOM_TOKENS : ROOM_TO_THINK_TOKENS;
}

/** 2.5 of `gemini-2.5-flash`; a name that tells none is of a newer one. */
function generationOf(model: string): number {
  return Number(/(?:^|\/)gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** In JSON Schema, which it takes whole since it has a field of its own; one without properties is refused. */
function declared({ name, description, parameters }: ModelTool): Record<string, unknown> {
  const properties = parameters['properties'];
  const hasProperties = typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
  return {
    name: takenName(name),
    description,
    ...(hasProperties ? { parametersJsonSchema: { ...parameters, type: 'object' } } : {}),
  };
}
