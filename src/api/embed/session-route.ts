/**
 * `POST /api/embed/session` and its preflight: HTTP around `src/embed/issue-session.ts`. Every answer, errors too, can
 * be read by the page that asked (CORS without credentials), so that a developer sees why it failed. Nobody
 * authenticates here but by key and origin.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import type { IssueAnswer, SessionRequest } from '../../embed/issue-session.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { sessionAnswer, sessionBody } from './answers.ts';

const PATH = '/api/embed/session';
const PREFLIGHT_SECONDS = '600';
const TOO_MANY = 'Too many sessions';
/** What can stand in a header of ours as it came. */
const PLAIN = /^[\x21-\x7e]+$/;

const READABLE = {
  'Access-Control-Allow-Origin': 'The Origin of the request',
  'Access-Control-Expose-Headers': 'X-Error-Code, X-Request-Id, Retry-After',
};

export function registerEmbedSession(
  app: FastifyInstance,
  deps: { issueSession(request: SessionRequest): Promise<IssueAnswer> },
): void {
  const route = routesOn(app, null);
  route({
    method: 'options',
    path: PATH,
    id: 'preflightEmbedSession',
    tag: 'Web',
    summary: 'What browsers ask before the POST',
    description: 'Answered for any origin.',
    scope: null,
    specified: true,
    answers: {
      204: {
        description: 'Go ahead.',
        content: {},
        headers: {
          ...READABLE,
          'Access-Control-Allow-Methods': 'POST',
          'Access-Control-Allow-Headers': 'content-type',
          'Access-Control-Max-Age': '600',
        },
      },
    },
    async handler(request, reply) {
      allowReading(request, reply);
      return reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'content-type',
          'access-control-max-age': PREFLIGHT_SECONDS,
        })
        .send();
    },
  });

  route({
    method: 'post',
    path: PATH,
    id: 'createEmbedSession',
    tag: 'Web',
    summary: 'A token for one conversation on a web page',
    description:
      'Called by the page itself. The widget key and the Origin decide; the token opens one WebSocket at /ws/live within 60 s (docs/live-protocol.md).',
    scope: null,
    specified: true,
    headers: { Origin: "The page's origin; browsers send it." },
    ownBody: sessionBody,
    answers: { 200: json('The token.', sessionAnswer, { ...READABLE, 'Referrer-Policy': 'no-referrer' }) },
    errors: [
      'missing_fields',
      'invalid_parent_origin',
      'invalid_public_key',
      'origin_not_allowed',
      'agent_not_found',
      'embed_rate_limit',
      'concurrency_limit',
      'draining',
    ],
    async onRequest(request, reply) {
      allowReading(request, reply);
      reply.header('referrer-policy', 'no-referrer');
    },
    async handler(request) {
      if (request.headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
      if (request.body === undefined || isTooDeep(request.body)) throw new Refusal('invalid_json');
      const { origin } = request.headers;
      const answer = await deps.issueSession({ body: request.body, origin, remoteAddress: request.ip ?? 'local' });
      if (answer.ok) return { token: answer.token };
      const { code, retryAfterSeconds, headers = {} } = answer;
      throw new Refusal(code, {
        headers,
        ...(code === 'concurrency_limit' ? { message: TOO_MANY } : {}),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
    },
  });
}

function allowReading(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  reply.header('vary', 'Origin');
  if (origin === undefined || !PLAIN.test(origin)) return;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'X-Error-Code, X-Request-Id, Retry-After',
  });
}
