/**
 * Models that have a bad day whatever they are asked, chosen by their name: `emulated-stalls`. For whoever asks a model
 * once and for a whole answer, as the analysis of calls does; a conversation's models have scenarios and faults.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readingFor } from '../mind/reading.ts';
import type { HttpExchange } from '../provider.ts';
import { answerHeaders, failureAnswer } from './api-error.ts';
import type { ChatRequest } from './chat-request.ts';

export const ODDITIES = [
  /** Accepts the request and says nothing. */
  'stalls',
  /** Sends headers, then a byte now and then. */
  'trickles',
  'hangs_up',
  'rate_limits',
  'breaks',
  'overloaded',
  /** Text that is no JSON, whatever was asked for. */
  'nonsense',
  /** JSON of another form. */
  'other_form',
  'refuses',
  'filters',
  /** Ends at its longest length. */
  'cut_off',
  /** 10 MB. */
  'huge',
  /** An error with status 200, as some proxies send it. */
  'error_as_answer',
  'page',
  'redirects',
  /** Does what the transcript asks it to do. */
  'obeys_caller',
] as const;
export type Oddity = (typeof ODDITIES)[number];

const PREFIX = 'emulated-';
const HUGE_BYTES = 10 * 1024 * 1024;
const TRICKLE_EVERY_MS = 200;

/** Null: it is none of them. */
export function oddityOf(model: string): Oddity | null {
  if (!model.startsWith(PREFIX)) return null;
  const name = model.slice(PREFIX.length).replaceAll('-', '_');
  return ODDITIES.find((one) => one === name) ?? null;
}

/** Answers whole, also where a stream was asked for. */
export async function answerOddly(exchange: HttpExchange, request: ChatRequest, oddity: Oddity): Promise<void> {
  const say = (content: string | null, refusal: string | null = null, finish_reason = 'stop'): void => {
    const message = { role: 'assistant', content, refusal, annotations: [] };
    const body = {
      id: `chatcmpl-${exchange.id}`,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason }],
      usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
    };
    exchange.answer({ status: 200, headers: answerHeaders(), body });
  };
  switch (oddity) {
    case 'stalls':
      return;
    case 'trickles':
      exchange.head(200, { 'content-type': 'application/json' });
      for (; !exchange.signal.aborted; await pause(TRICKLE_EVERY_MS)) exchange.send(' ');
      return;
    case 'hangs_up':
      return exchange.breakOff();
    case 'rate_limits': {
      const { headers, ...answer } = failureAnswer(429);
      return exchange.answer({ ...answer, headers: { ...headers, 'retry-after': '1', 'retry-after-ms': '1000' } });
    }
    case 'breaks':
      return exchange.answer(failureAnswer(500));
    case 'overloaded':
      return exchange.answer(failureAnswer(503));
    case 'nonsense':
      return say('Roses are red, and so is your summary.');
    case 'other_form':
      return say(JSON.stringify({ verdict: 42, summary: null }));
    case 'refuses':
      return say(null, "I'm sorry, I can't help with that.");
    case 'filters':
      return say('', null, 'content_filter');
    case 'cut_off':
      return say('{"summary":"The caller said', null, 'length');
    case 'huge':
      return say('x'.repeat(HUGE_BYTES));
    case 'error_as_answer': {
      const error = { message: 'upstream timed out', type: 'server_error', param: null, code: null };
      return exchange.answer({ status: 200, body: { error } });
    }
    case 'page':
      return exchange.answer({
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html><body>Welcome</body></html>',
      });
    case 'redirects':
      return exchange.answer({ status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } });
    case 'obeys_caller':
      return say(readingFor(request, true));
  }
}
