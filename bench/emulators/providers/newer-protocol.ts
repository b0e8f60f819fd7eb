/**
 * A provider that has moved on: each of its messages has a field that nobody knows yet, and behind each comes one of an
 * unknown kind. Called by an exchange's outlet once the fault `newer_protocol` has struck. Pure.
 */
import type { Message } from './provider.ts';

const FIELD = { newer: { of: 'another version' } };

export function newerProtocol(message: Message): Message[] {
  if (Buffer.isBuffer(message)) return [message];
  if (typeof message === 'object')
    return [
      { ...message, ...FIELD },
      { type: 'Newer', ...FIELD },
    ];
  const [, head = '', json] = /^((?:event: .*\n)?data: )(\{.*\})(?:\r?\n){2}$/.exec(message) ?? [];
  if (json === undefined) return [message];
  const event = { ...(JSON.parse(json) as object), ...FIELD };
  // Of chat completions a chunk without choices is one of no known kind.
  const unknown = 'choices' in event ? { ...event, choices: [] } : { type: 'newer', ...FIELD };
  const unknownHead = head.startsWith('event: ') ? 'event: newer\ndata: ' : head;
  return [`${head}${JSON.stringify(event)}\n\n`, `${unknownHead}${JSON.stringify(unknown)}\n\n`];
}
