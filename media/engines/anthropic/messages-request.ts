/**
 * What Anthropic is asked (`POST {base}/v1/messages`): body and headers of one request, and how its models differ. The
 * prompt and the tools are marked to be kept: they are the same in every request of a call. Pure.
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ModelMessage, ModelRequest, ModelTool } from '../../contract/model.ts';
import { takenName, wellFormed } from '../provider/sayable-history.ts';
import { objectIn } from '../provider/told-json.ts';

/** Of `EngineUse.settings`; checked where the agent was imported. Absent: as the provider has it. */
export interface AnthropicSettings extends EngineSettings<'think', 'anthropic'> {
  model: string;
  temperature?: number;
}

/** Found out by asking: what a model does not take is left out from then on. */
export interface MessagesForm {
  /** Newer models take no temperature and no `top_p`. */
  takesSampling: boolean;
  /** Said of those that might think before they speak; some know no such field. */
  saysThinking: boolean;
}

type Block = Record<string, unknown>;
interface Message {
  role: 'user' | 'assistant';
  content: Block[];
}

/** With it a temperature is taken where the model takes one. */
const VERSION = '2023-06-01';
const KEPT = { cache_control: { type: 'ephemeral' } };
/** A conversation begins with the user, and it is the user who is answered. */
const BEGINNING = '[The call begins.]';
const GO_ON = '[The caller says nothing.]';

export const FIRST_FORM: MessagesForm = { takesSampling: true, saysThinking: true };

/** Another form that may suit a model that refused this one with these words; null: it is not the form. */
export function otherMessagesForm(form: MessagesForm, said: string): MessagesForm | null {
  if (form.saysThinking && /\bthinking\b/.test(said)) return { ...form, saysThinking: false };
  if (form.takesSampling && /\b(temperature|top_p)\b/.test(said)) return { ...form, takesSampling: false };
  return null;
}

export function messagesUrl({ baseUrl }: ConnectionGrant): string {
  return `${baseUrl.replace(/\/+$/, '')}/v1/messages`;
}

export function anthropicHeaders({ credentials }: Pick<ConnectionGrant, 'credentials'>): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'Parley/1',
    'anthropic-version': VERSION,
    'x-api-key': credentials['apiKey'] ?? '',
  };
}

export function messagesBody(
  request: ModelRequest,
  settings: AnthropicSettings,
  { takesSampling, saysThinking }: MessagesForm,
): Record<string, unknown> {
  const { model, temperature, topP, serviceTier } = settings;
  const system = request.messages.filter(({ role }) => role === 'system').map(({ text = '' }) => wellFormed(text));
  const { tools, toolChoice, maxTokens } = request;
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system.length === 0 ? {} : { system: [{ type: 'text', text: system.join('\n\n'), ...KEPT }] }),
    messages: messagesOf(request.messages),
    ...(tools.length === 0 ? {} : { tools: toolsOf(tools), tool_choice: { type: toolChoice } }),
    ...(saysThinking ? { thinking: { type: 'disabled' } } : {}),
    // Warmer than 1 there is nothing.
    ...(takesSampling && temperature !== undefined ? { temperature: Math.min(temperature, 1) } : {}),
    ...(takesSampling && topP !== undefined ? { top_p: topP } : {}),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
  };
}

/** Its schemas are of objects, and say so. */
function toolsOf(tools: readonly ModelTool[]): Block[] {
  return tools.map(({ name, description, parameters }, index) => ({
    name: takenName(name),
    description,
    input_schema: { ...parameters, type: 'object' },
    ...(index === tools.length - 1 ? KEPT : {}),
  }));
}

/** User and assistant in turn: results of tools are said by the user, before anything else. */
function messagesOf(messages: readonly ModelMessage[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    if (blocks.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else out.push({ role, content: blocks });
  }
  if (out[0]?.role !== 'user') out.unshift({ role: 'user', content: [textBlock(BEGINNING)] });
  // What ends with the assistant would be taken for the beginning of its answer.
  if (out.at(-1)!.role !== 'user') out.push({ role: 'user', content: [textBlock(GO_ON)] });
  return out;
}

function blocksOf(message: Exclude<ModelMessage, { role: 'system' }>): Block[] {
  const text = wellFormed(message.text).trim();
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: idOf(message.useId), content: text === '' ? 'null' : text }];
  // An empty block is refused.
  const said = text === '' ? [] : [textBlock(text)];
  if (message.role === 'user') return said;
  const uses = (message.toolUses ?? []).map(({ useId, name, argumentsText }) => ({
    type: 'tool_use',
    id: idOf(useId),
    name: takenName(name),
    input: objectIn(argumentsText) ?? {},
  }));
  return [...said, ...uses];
}

const textBlock = (text: string): Block => ({ type: 'text', text });

/** Another provider's model may have made it: of other characters it is refused. */
function idOf(useId: string): string {
  return useId.replace(/[^\w-]/g, '_') || '_';
}
