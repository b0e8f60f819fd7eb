/** Anthropic's Messages, for `model-service.ts`. */
import type { ModelWire } from '../provider/model-wire.ts';
import { MessagesAnswer } from './messages-answer.ts';
import {
  type AnthropicSettings,
  anthropicHeaders,
  FIRST_FORM,
  type MessagesForm,
  messagesBody,
  messagesUrl,
  otherMessagesForm,
} from './messages-request.ts';

export const MESSAGES_WIRE: ModelWire<AnthropicSettings, MessagesForm> = {
  firstForm: () => FIRST_FORM,
  otherForm: otherMessagesForm,
  tellsUsage: () => true,
  url: messagesUrl,
  headers: anthropicHeaders,
  body: messagesBody,
  promptFields: ['system', 'messages', 'tools'],
  answer: (say) => new MessagesAnswer(say),
};
