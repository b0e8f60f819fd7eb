/** Gemini's streamed answers on loopback behind the port: for the port's suite and others. */
import type { ServerResponse } from 'node:http';
import { newerProtocol } from '../../../../../bench/emulators/providers/newer-protocol.ts';
import type { ModelScene } from '../model-conformance.ts';
import { chatCase } from '../openai/chat-case.ts';

const REASONS = { length: 'MAX_TOKENS', filtered: 'SAFETY' } as const;

export function generateCase(settings: Record<string, unknown> = { model: 'small' }) {
  return chatCase(settings, { provider: 'gemini' }, { service: 'gemini-generate', play: playGenerate });
}

async function playGenerate(response: ServerResponse, scene: ModelScene, number: number): Promise<void> {
  if ('status' in scene) {
    response.writeHead(scene.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: scene.status, message: scene.text, status: 'FAKE' } }));
    return;
  }
  const [input, cached, output] = ('usage' in scene ? scene.usage : undefined) ?? [10, 0, 5];
  const told = (parts: object[], fields: object = {}, of = `answer-${number}`, said = 1): string => {
    const usageMetadata = {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: said,
    };
    const candidates = [{ content: { parts, role: 'model' }, index: 0, ...fields }];
    const plain = `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'small', responseId: of })}\r\n\r\n`;
    return 'isNewer' in scene ? newerProtocol(plain).join('') : plain;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const bytes = (text: string) => new Promise<void>((resolve) => response.write(text, () => setImmediate(resolve)));
  for (const text of scene.say) {
    // In two writes, in the middle of whatever it is.
    const whole = Buffer.from(told([{ text }]));
    response.write(whole.subarray(0, whole.length - 60));
    await new Promise(setImmediate);
    response.write(whole.subarray(whole.length - 60));
    await new Promise(setImmediate);
  }
  if ('after' in scene) {
    const error = { code: 429, message: 'Too fast: see your billing details.', status: 'RESOURCE_EXHAUSTED' };
    if (scene.after === 'break') setTimeout(() => response.destroy(), 20);
    if (scene.after === 'garbage') response.end('data: <html>\r\n\r\n');
    if (scene.after === 'strangers_answer') response.end(told([{ text: 'secret' }], {}, 'another'));
    if (scene.after === 'rate_limit') response.end(`data: ${JSON.stringify({ error })}\r\n\r\n`);
    return;
  }
  const uses = 'uses' in scene ? scene.uses : [];
  for (const { id, name, argumentParts } of uses)
    await bytes(told([{ functionCall: { id, name, args: JSON.parse(argumentParts.join('')) } }]));
  const finishReason = 'stop' in scene && scene.stop !== undefined ? REASONS[scene.stop] : 'STOP';
  response.end(told([{ text: '' }], { finishReason }, `answer-${number}`, output));
}
