/** The services of provider threads: the one list of them. Nothing of one is loaded before its first line. */
import type { ServiceKind } from './provider-service.ts';

export const SERVICES: readonly ServiceKind[] = [
  {
    name: 'openai-chat',
    providers: ['openai_compatible'],
    load: async () => (await import('../openai/chat-service.ts')).createChatService,
  },
];
