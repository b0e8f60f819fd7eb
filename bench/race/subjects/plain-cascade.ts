/**
 * The cascade that published examples show, written for comparison: a websocket in, a recogniser's socket, a model's
 * answer as it comes, a voice's socket for each answer, all in JSON. Interim words stop the agent. It detects nothing
 * itself and survives nothing. A process of its own: prints its address, ends on SIGTERM.
 */
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

const providers = process.env['RACE_PROVIDERS'] ?? '';
const sockets = providers.replace(/^http/, 'ws');
const SYSTEM = { role: 'system', content: 'You answer questions about a restaurant, in a sentence.' };
const LISTEN =
  '/v1/listen?model=nova-3&encoding=mulaw&sample_rate=8000&interim_results=true&endpointing=200&punctuate=true';
const SPEAK = '/v1/text-to-speech/race/stream-input?model_id=eleven_flash_v2_5&output_format=ulaw_8000';

interface Answer {
  abort: AbortController;
  voice: WebSocket;
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${port}/` }));
});

server.on('connection', (caller) => {
  const history: { role: string; content: string }[] = [SYSTEM];
  let answer: Answer | null = null;
  const ears = new WebSocket(sockets + LISTEN, { headers: { Authorization: 'Token race' } });

  const interrupt = (): void => {
    if (answer === null) return;
    answer.abort.abort();
    answer.voice.close();
    answer = null;
    caller.send(JSON.stringify({ event: 'clearAudio' }));
  };

  const reply = async (text: string): Promise<void> => {
    interrupt();
    history.push({ role: 'user', content: text });
    const abort = new AbortController();
    const voice = new WebSocket(sockets + SPEAK, { headers: { 'xi-api-key': 'race' } });
    answer = { abort, voice };
    const opened = new Promise((done) => voice.once('open', done));
    voice.on('error', () => {});
    voice.on('message', (data) => {
      if (abort.signal.aborted) return;
      const message = JSON.parse(data.toString()) as { audio?: string };
      if (!message.audio) return;
      const media = { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: message.audio };
      caller.send(JSON.stringify({ event: 'playAudio', media }));
    });
    let whole = '';
    let sentence = '';
    for await (const token of tokensOf(history, abort.signal)) {
      whole += token;
      sentence += token;
      if (!/[.!?]\s*$/.test(sentence)) continue;
      await opened;
      voice.send(JSON.stringify({ text: `${sentence} `, flush: true }));
      sentence = '';
    }
    await opened;
    if (sentence !== '') voice.send(JSON.stringify({ text: `${sentence} ` }));
    voice.send(JSON.stringify({ text: '' }));
    history.push({ role: 'assistant', content: whole });
  };

  ears.on('error', () => {});
  ears.on('message', (data) => {
    const message = JSON.parse(data.toString());
    const transcript = message.channel?.alternatives?.[0]?.transcript ?? '';
    if (message.type !== 'Results' || transcript === '') return;
    if (!message.is_final) interrupt();
    else if (message.speech_final) reply(transcript).catch(() => {});
  });
  caller.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.event !== 'media' || ears.readyState !== WebSocket.OPEN) return;
    ears.send(Buffer.from(message.media.payload, 'base64'));
  });
  caller.on('close', () => {
    answer?.abort.abort();
    answer?.voice.close();
    ears.close();
  });
});

async function* tokensOf(messages: object[], signal: AbortSignal): AsyncGenerator<string> {
  const response = await fetch(`${providers}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer race' },
    body: JSON.stringify({ model: 'race', stream: true, messages }),
    signal,
  });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const token = JSON.parse(line.slice(6)).choices[0]?.delta?.content;
      if (token) yield token;
    }
  }
}

process.on('SIGTERM', () => process.exit(0));
// Who started it is gone.
process.stdin.resume().once('end', () => process.exit(0));
