/** A chat endpoint on loopback that plays a scene. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { newerProtocol } from '../../../../../bench/emulators/providers/newer-protocol.ts';
import { PATIENCE_MS } from '../../../../../bench/harness/patience.ts';
import type { ModelScene } from '../model-conformance.ts';

export interface ChatRequestSeen {
  text: string;
  headers: http.IncomingHttpHeaders;
  body: Record<string, unknown>;
  isClosed: boolean;
}

export type PlayScene = (response: http.ServerResponse, scene: ModelScene, number: number) => Promise<void>;

/** `play`: in the words of which protocol. */
export async function startFakeChat(play: PlayScene = playChat) {
  let scene: ModelScene = { say: ['Hello.'] };
  let following: ModelScene | null = null;
  let answers = 0;
  const seen: ChatRequestSeen[] = [];
  const connections = new Set<object>();
  const server = http.createServer((request, response) => {
    connections.add(request.socket);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const one = { text, headers: request.headers, body: JSON.parse(text), isClosed: false };
      seen.push(one);
      response.on('close', () => {
        one.isClosed = true;
      });
      const now = scene;
      scene = following ?? scene;
      following = null;
      void play(response, now, ++answers);
    });
  });
  // Who counts connections must not find one closed because the machine was slow.
  server.keepAliveTimeout = PATIENCE_MS;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    connections,
    scene(next: ModelScene) {
      scene = next;
    },
    /** After one more request with the scene that is. */
    following(next: ModelScene) {
      following = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const playChat: PlayScene = async (response, scene, number) => {
  const id = `chatcmpl-${number}`;
  if ('status' in scene) {
    response.writeHead(scene.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: scene.text, type: 'fake' } }));
    return;
  }
  const plain = (delta: object, finish: string | null = null, of = id): string =>
    `data: ${JSON.stringify({ id: of, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const chunk: typeof plain = (...of) => ('isNewer' in scene ? newerProtocol(plain(...of)).join('') : plain(...of));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const bytes = (text: string) => new Promise<void>((resolve) => response.write(text, () => setImmediate(resolve)));
  await bytes(': keep-alive\r\n\r\n');
  await bytes(chunk({ role: 'assistant', content: '' }));
  for (const text of scene.say) {
    // In two writes, in the middle of whatever it is.
    const whole = Buffer.from(chunk({ content: text }));
    response.write(whole.subarray(0, whole.length - 60));
    await new Promise(setImmediate);
    response.write(whole.subarray(whole.length - 60));
    await new Promise(setImmediate);
  }
  if ('after' in scene) {
    if (scene.after === 'break') setTimeout(() => response.destroy(), 20);
    if (scene.after === 'rate_limit')
      response.end('data: {"error":{"message":"Too fast.","type":"tokens","code":"rate_limit_exceeded"}}\n\n');
    if (scene.after === 'garbage') response.end('data: <html>\n\n');
    if (scene.after === 'strangers_answer') response.end(chunk({ content: 'secret' }, null, 'chatcmpl-other'));
    return;
  }
  if ('uses' in scene) {
    for (const [index, { id: useId, name, argumentParts }] of scene.uses.entries()) {
      await bytes(chunk({ tool_calls: [{ index, id: useId, type: 'function', function: { name, arguments: '' } }] }));
      for (const part of argumentParts) await bytes(chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
    }
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    return;
  }
  const finish = scene.stop === undefined ? 'stop' : scene.stop === 'filtered' ? 'content_filter' : scene.stop;
  await bytes(chunk({}, finish));
  if (scene.usage !== undefined) {
    const [prompt_tokens, cached_tokens, completion_tokens] = scene.usage;
    const usage = { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } };
    await bytes(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
};
