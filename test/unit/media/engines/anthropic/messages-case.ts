/** Anthropic's Messages on loopback behind the port: for the port's suite and others. */
import type { ServerResponse } from 'node:http';
import { newerProtocol } from '../../../../../bench/emulators/providers/newer-protocol.ts';
import type { ModelScene } from '../model-conformance.ts';
import { chatCase } from '../openai/chat-case.ts';

const STOPS = { length: 'max_tokens', filtered: 'refusal' } as const;

export function messagesCase(settings: Record<string, unknown> = { model: 'small' }) {
  const change = { provider: 'anthropic' };
  return chatCase(settings, change, { service: 'anthropic-messages', play: playMessages });
}

async function playMessages(response: ServerResponse, scene: ModelScene, number: number): Promise<void> {
  if ('status' in scene) {
    response.writeHead(scene.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ type: 'error', error: { type: 'fake', message: scene.text } }));
    return;
  }
  const event = (type: string, fields: object): string => {
    const plain = `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    return 'isNewer' in scene ? newerProtocol(plain).join('') : plain;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const bytes = (text: string) => new Promise<void>((resolve) => response.write(text, () => setImmediate(resolve)));
  const [input, cached, output] = ('usage' in scene ? scene.usage : undefined) ?? [10, 0, 5];
  const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  await bytes(event('message_start', { message: { id: `msg_${number}`, type: 'message', role: 'assistant', usage } }));
  let index = 0;
  if (scene.say.length > 0)
    await bytes(event('content_block_start', { index, content_block: { type: 'text', text: '' } }));
  await bytes(event('ping', {}));
  for (const text of scene.say) {
    // In two writes, in the middle of whatever it is.
    const whole = Buffer.from(event('content_block_delta', { index, delta: { type: 'text_delta', text } }));
    response.write(whole.subarray(0, whole.length - 60));
    await new Promise(setImmediate);
    response.write(whole.subarray(whole.length - 60));
    await new Promise(setImmediate);
  }
  if ('after' in scene) {
    const delta = { type: 'text_delta', text: 'secret' };
    const error = { type: 'rate_limit_error', message: 'Too fast.' };
    if (scene.after === 'break') setTimeout(() => response.destroy(), 20);
    if (scene.after === 'garbage') response.end('data: <html>\n\n');
    if (scene.after === 'strangers_answer') response.end(event('content_block_delta', { index: 4, delta }));
    if (scene.after === 'rate_limit') response.end(event('error', { error }));
    return;
  }
  if (scene.say.length > 0) await bytes(event('content_block_stop', { index: index++ }));
  const uses = 'uses' in scene ? scene.uses : [];
  for (const { id, name, argumentParts } of uses) {
    await bytes(event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } }));
    for (const part of argumentParts)
      await bytes(event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part } }));
    await bytes(event('content_block_stop', { index: index++ }));
  }
  const stop =
    'stop' in scene && scene.stop !== undefined ? STOPS[scene.stop] : uses.length > 0 ? 'tool_use' : 'end_turn';
  await bytes(event('message_delta', { delta: { stop_reason: stop }, usage: { output_tokens: output } }));
  response.end(event('message_stop', {}));
}
