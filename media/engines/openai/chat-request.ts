/**
 * What a chat endpoint is asked (`POST {base}/chat/completions`): body and headers of one request, and how servers of
 * the protocol differ. Pure.
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ModelMessage, ModelRequest } from '../../contract/model.ts';
import { takenName, wellFormed } from '../provider/sayable-history.ts';
import { objectIn } from '../provider/told-json.ts';
import { accountHeaders } from './account-headers.ts';

/** Of `EngineUse.settings`; checked where the agent was imported. Absent: as the provider has it. */
export interface ChatSettings extends EngineSettings<'think', 'openai'> {
  model: string;
  temperature?: number;
}

/** Found out by asking: what a server says it does not know is left out, or called otherwise, from then on. */
export interface ChatForm {
  /** Newer models refuse the older name, older servers do not know the newer one. */
  limitName: 'max_completion_tokens' | 'max_tokens';
  asksForUsage: boolean;
}

export function firstFormFor(baseUrl: string): ChatForm {
  const { hostname } = new URL(baseUrl);
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  return { limitName: isOpenAi ? 'max_completion_tokens' : 'max_tokens', asksForUsage: true };
}

/** Another form that may suit a server that refused this one with these words; null: it is not the form. */
export function otherForm(form: ChatForm, said: string): ChatForm | null {
  if (form.asksForUsage && said.includes('stream_options')) return { ...form, asksForUsage: false };
  if (!said.includes(form.limitName)) return null;
  return { ...form, limitName: form.limitName === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' };
}

export function chatBody(request: ModelRequest, settings: ChatSettings, form: ChatForm): Record<string, unknown> {
  const { temperature, topP, reasoningEffort, serviceTier } = settings;
  const { tools, toolChoice } = request;
  return {
    model: settings.model,
    messages: request.messages.map(messageOf),
    stream: true,
    ...(form.asksForUsage ? { stream_options: { include_usage: true } } : {}),
    [form.limitName]: request.maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
          tool_choice: toolChoice,
        }),
  };
}

function messageOf(message: ModelMessage): Record<string, unknown> {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.useId, content: wellFormed(message.text) };
    case 'assistant': {
      const { text, toolUses = [] } = message;
      const content = wellFormed(text);
      if (toolUses.length === 0) return { role: 'assistant', content };
      const calls = toolUses.map(({ useId, name, argumentsText }) => ({
        id: useId,
        type: 'function',
        function: { name: takenName(name), arguments: objectIn(argumentsText) === undefined ? '{}' : argumentsText },
      }));
      return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
    }
    default:
      return { role: message.role, content: wellFormed(message.text) };
  }
}

export function chatUrl(baseUrl: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
}

export function chatHeaders(grant: ConnectionGrant): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'Parley/1',
    ...accountHeaders(grant),
  };
}
