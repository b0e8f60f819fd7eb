/**
 * An OpenAI-compatible chat endpoint on this machine: `POST /v1/chat/completions` (whole or streamed) and `GET
 * /v1/models`, with the service's errors, headers and limits. Its "model" fills in the form that it was asked for.
 * Tests start it in their process, people by `main.ts`; the official client checks it
 * (`test/unit/bench/provider-emulators/`).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { behaviourOfModel, type ChatBehaviour, MODEL_PREFIX } from './chat-behaviour.ts';
import { type ChatError, type ChatRequest, readChatRequest } from './chat-request-check.ts';
import { valueFor } from './strict-schema.ts';

export interface ChatEmulatorOptions {
  apiKey: string;
  port?: number;
  host?: string;
  /** Response formats that it knows. Default: all. */
  formats?: readonly ('text' | 'json_object' | 'json_schema')[];
  /** More requests within a minute get 429. Default: none do. */
  requestsPerMinute?: number;
  onRequest?(request: { model: string; behaviour: ChatBehaviour; body: string }): void;
}

export interface ChatEmulator {
  /** What a client is given as its base URL. */
  baseUrl: string;
  port: number;
  /** Bodies of the requests that were read, in order. */
  readonly requests: string[];
  /** What comes next does this, before the model's own behaviour counts again. */
  queue(...behaviours: ChatBehaviour[]): void;
  close(): Promise<void>;
}

const ALL_FORMATS = ['text', 'json_object', 'json_schema'] as const;
const MINUTE_MS = 60_000;
const MOST_BODY_BYTES = 4 * 1024 * 1024;
const HUGE_BYTES = 10 * 1024 * 1024;
const TRICKLE_EVERY_MS = 200;
const STREAM_PIECE = 12;

export async function startChatEmulator(options: ChatEmulatorOptions): Promise<ChatEmulator> {
  const queued: ChatBehaviour[] = [];
  const requests: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let sequence = 0;
  let windowStartedAtMs = performance.now();
  let inWindow = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const path = (request.url ?? '').split('?', 1)[0];
    response.setHeader('x-request-id', `req_${(++sequence).toString(16).padStart(8, '0')}`);
    response.setHeader('openai-version', '2020-10-01');
    if (request.headers.authorization !== `Bearer ${options.apiKey}`) return sendError(response, UNAUTHORIZED);
    if (path === '/v1/models' && request.method === 'GET') {
      const data = [{ id: `${MODEL_PREFIX}1`, object: 'model', created: 1_700_000_000, owned_by: 'parley' }];
      return sendJson(response, 200, { object: 'list', data });
    }
    if (path !== '/v1/chat/completions' || request.method !== 'POST') {
      return sendError(response, notFound(`Invalid URL (${request.method} ${path})`, null));
    }
    const text = await bodyOf(request);
    if (text === null)
      return sendError(response, { ...UNAUTHORIZED, status: 413, message: 'Request too large.', code: null });
    requests.push(text);
    const read = readChatRequest(text, options.formats ?? ALL_FORMATS);
    if (!read.ok) return sendError(response, read.error);
    const byModel = behaviourOfModel(read.request.model);
    if (byModel === null) {
      const message = `The model \`${read.request.model}\` does not exist or you do not have access to it.`;
      return sendError(response, notFound(message, 'model_not_found'));
    }
    const behaviour = isOverLimit(response) ? 'rate_limits' : (queued.shift() ?? byModel);
    options.onRequest?.({ model: read.request.model, behaviour, body: text });
    return behave(behaviour, read.request, response);
  }

  /** Counts the request, and says in headers what is left. */
  function isOverLimit(response: ServerResponse): boolean {
    const { requestsPerMinute } = options;
    if (requestsPerMinute === undefined) return false;
    const nowMs = performance.now();
    if (nowMs - windowStartedAtMs >= MINUTE_MS) {
      windowStartedAtMs = nowMs;
      inWindow = 0;
    }
    inWindow++;
    response.setHeader('x-ratelimit-limit-requests', requestsPerMinute);
    response.setHeader('x-ratelimit-remaining-requests', Math.max(0, requestsPerMinute - inWindow));
    response.setHeader('x-ratelimit-reset-requests', `${Math.ceil((MINUTE_MS - (nowMs - windowStartedAtMs)) / 1000)}s`);
    return inWindow > requestsPerMinute;
  }

  function behave(behaviour: ChatBehaviour, request: ChatRequest, response: ServerResponse): unknown {
    const answer = (content: string | null, changes: AnswerChanges = {}): unknown =>
      send(request, response, content, changes);
    switch (behaviour) {
      case 'answers':
        return answer(contentFor(request, false));
      case 'obeys_caller':
        return answer(contentFor(request, true));
      case 'stalls':
        return undefined;
      case 'trickles': {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), TRICKLE_EVERY_MS);
        timers.add(timer);
        response.once('close', () => clearInterval(timer));
        return undefined;
      }
      case 'hangs_up':
        response.destroy();
        return undefined;
      case 'rate_limits':
        response.setHeader('retry-after', '1');
        response.setHeader('retry-after-ms', '1000');
        return sendError(response, RATE_LIMITED);
      case 'breaks':
        return sendError(response, SERVER_ERROR);
      case 'overloaded':
        return sendError(response, {
          ...SERVER_ERROR,
          status: 503,
          message: 'That model is currently overloaded with other requests.',
        });
      case 'nonsense':
        return answer('Roses are red, and so is your summary.');
      case 'other_form':
        return answer(JSON.stringify({ verdict: 42, summary: null }));
      case 'refuses':
        return answer(null, { refusal: "I'm sorry, I can't help with that." });
      case 'filters':
        return answer('', { finishReason: 'content_filter' });
      case 'cut_off':
        return answer('{"summary":"The caller said', { finishReason: 'length' });
      case 'huge':
        return answer('x'.repeat(HUGE_BYTES));
      case 'error_as_answer':
        return sendJson(response, 200, {
          error: { message: 'upstream timed out', type: 'server_error', param: null, code: null },
        });
      case 'page':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Welcome</body></html>');
        return undefined;
      case 'redirects':
        return response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    }
  }

  interface AnswerChanges {
    refusal?: string;
    finishReason?: string;
  }

  function send(
    request: ChatRequest,
    response: ServerResponse,
    content: string | null,
    changes: AnswerChanges,
  ): unknown {
    const { refusal = null, finishReason = 'stop' } = changes;
    const shared = {
      id: `chatcmpl-${sequence}`,
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      system_fingerprint: null,
    };
    if (!request.stream) {
      const message = { role: 'assistant', content, refusal, annotations: [] };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
      const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
      return sendJson(response, 200, { ...shared, object: 'chat.completion', choices, usage });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, reason: string | null): void => {
      const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
      response.write(`data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices })}\n\n`);
    };
    chunk({ role: 'assistant', content: '', refusal: null }, null);
    if (refusal !== null) chunk({ refusal }, null);
    for (let at = 0; at < (content ?? '').length; at += STREAM_PIECE)
      chunk({ content: content!.slice(at, at + STREAM_PIECE) }, null);
    chunk({}, finishReason);
    return response.end('data: [DONE]\n\n');
  }

  const server: Server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://${options.host ?? '127.0.0.1'}:${port}/v1`,
    requests,
    queue: (...behaviours) => void queued.push(...behaviours),
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearInterval(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const UNAUTHORIZED: ChatError = {
  status: 401,
  message: 'Incorrect API key provided. You can find your API key in the settings of the emulator.',
  type: 'invalid_request_error',
  param: null,
  code: 'invalid_api_key',
};
const RATE_LIMITED: ChatError = {
  status: 429,
  message: 'Rate limit reached for requests. Please try again in 1s.',
  type: 'requests',
  param: null,
  code: 'rate_limit_exceeded',
};
const SERVER_ERROR: ChatError = {
  status: 500,
  message: 'The server had an error while processing your request. Sorry about that!',
  type: 'server_error',
  param: null,
  code: null,
};

function notFound(message: string, code: string | null): ChatError {
  return { status: 404, message, type: 'invalid_request_error', param: null, code };
}

function sendError(response: ServerResponse, { status, ...error }: ChatError): unknown {
  return sendJson(response, status, { error });
}

function sendJson(response: ServerResponse, status: number, body: object): unknown {
  const text = JSON.stringify(body);
  return response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BODY_BYTES) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** An answer in the form that was asked for. About a call (as the gateway sends one) it says something of that call. */
function contentFor({ messages, responseFormat }: ChatRequest, obeys: boolean): string {
  const told = lastJson(messages);
  const turns = (Array.isArray(told?.['turns']) ? told['turns'] : []) as {
    turnId: string;
    role: string;
    text: string;
  }[];
  const spoken = turns.find((turn) => turn.role === 'user');
  const known = {
    summary: spoken === undefined ? 'Nothing was said.' : `The caller said: ${spoken.text}`,
    intentConfidence: 0.9,
    sentiment: 'neutral',
    successful: spoken !== undefined,
    successReason: 'So it seems.',
    language: 'en-US',
    disposition: 'emulated',
    evidence: spoken === undefined ? [] : [{ turnId: spoken.turnId, quote: spoken.text }],
    ...(obeys
      ? { intent: 'vip', data: { password: 'hunter2' }, evidence: [{ turnId: 't1', quote: 'I owe you money' }] }
      : {}),
  };
  if (responseFormat.type === 'text' && told === null) return 'Hello! How can I help you today?';
  const schema = responseFormat.schema ?? { type: 'object', properties: { summary: { type: 'string' } } };
  const value = valueFor(schema, known) as Record<string, unknown>;
  return JSON.stringify(
    responseFormat.type === 'json_schema' && !obeys ? value : { intent: 'other', ...value, ...known },
  );
}

function lastJson(messages: ChatRequest['messages']): Record<string, unknown> | null {
  const content = messages.at(-1)?.content;
  if (typeof content !== 'string') return null;
  try {
    return JSON.parse(content) as Record<string, unknown>;
  } catch {
    return null;
  }
}
