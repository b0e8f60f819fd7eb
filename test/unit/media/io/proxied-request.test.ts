import { pino } from 'pino';
import type { Dispatcher, Pool } from 'undici';
import { expect, it } from 'vitest';
import { VOUCHED_HEADER, vouchedByKey } from '../../../../media/contract/vouched.ts';
import { ProxiedRequest } from '../../../../media/io/proxied-request.ts';
import { RequestRoom } from '../../../../media/io/request-room/request-room.ts';
import type { HttpExchange } from '../../../../media/io/socket-server/http-exchange.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const LIMIT_MS = 30_000;

/** A request that control has answered so, and whose client takes each piece only when it is told to. */
function answered(answerHeaders: Record<string, string>) {
  const budgets = { addressRequests: 4, addressBodies: 4, keyRequests: 4, bodyMs: 5_000 };
  const room = new RequestRoom({ clock: new VirtualClock(), log: pino({ level: 'silent' }), budgets });
  let handler: Dispatcher.DispatchHandler | null = null;
  const pool = {
    dispatch: (_request: unknown, given: Dispatcher.DispatchHandler) => {
      handler = given;
    },
  } as unknown as Pool;
  const exchange = {
    method: 'GET',
    url: '/openapi.json',
    headers: [['authorization', 'Bearer k']],
    remoteAddress: '192.0.2.1',
    onWritable: null,
    respond: () => {},
    write: () => false,
    cut: () => {},
  } as unknown as HttpExchange;
  const options = { maxBodyBytes: 1_000, room, stalledLimitMs: LIMIT_MS };
  const request = new ProxiedRequest(exchange, options, { inFlight: 0 }, pool);
  request.begin();
  const controller = { pause: () => {}, resume: () => {} } as unknown as Dispatcher.DispatchController;
  handler!.onResponseStart!(controller, 200, answerHeaders);
  handler!.onResponseData!(controller, Buffer.alloc(32 * 1_024));
  return { request, exchange, nowMs: performance.now() };
}

it.each([
  ['a stranger', {}, true],
  ['whose key was right', { [VOUCHED_HEADER]: vouchedByKey('acme') }, false],
  ['whose callback was signed', { [VOUCHED_HEADER]: 'carrier' }, false],
  ['of an event stream', { 'content-type': 'text/event-stream; charset=utf-8' }, false],
])('a client %s must keep up with its answer: %j gives %s', (_who, headers: Record<string, string>, mustKeepUp) => {
  const { request, exchange, nowMs } = answered(headers);
  expect([request.pace.mustKeepUp, request.pace.bytes]).toEqual([mustKeepUp, 32 * 1_024]);
  expect(request.pace.isTooSlow(nowMs + LIMIT_MS + 1)).toBe(true);
  exchange.onWritable!();
  expect(request.pace.isTooSlow(nowMs + 10 * LIMIT_MS)).toBe(false);
});
