/** Chat completions of any server that speaks OpenAI's protocol, for `model-service.ts`. */
import type { ModelWire } from '../provider/model-wire.ts';
import { ChatAnswer } from './chat-answer.ts';
import {
  type ChatForm,
  type ChatSettings,
  chatBody,
  chatHeaders,
  chatUrl,
  firstFormFor,
  otherForm,
} from './chat-request.ts';

export const CHAT_WIRE: ModelWire<ChatSettings, ChatForm> = {
  firstForm: ({ baseUrl }) => firstFormFor(baseUrl),
  otherForm,
  tellsUsage: ({ asksForUsage }) => asksForUsage,
  url: ({ baseUrl }) => chatUrl(baseUrl),
  headers: chatHeaders,
  body: chatBody,
  promptFields: ['messages', 'tools'],
  answer: (say) => new ChatAnswer(say),
};
