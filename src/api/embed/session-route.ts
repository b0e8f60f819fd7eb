/**
 * `POST /api/embed/session` and its preflight: HTTP around `src/embed/issue-session.ts`. Every answer, errors too, can be read by
 * the page that asked (CORS without credentials), so that a developer sees why it failed. Nobody authenticates here but by key and origin.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import type { IssueAnswer, SessionRequest } from '../../embed/issue-session.ts';
import { Refusal } from '../refusal.ts';

const PATH = '/api/embed/session';
const PREFLIGHT_SECONDS = '600';
const TOO_MANY = 'Too many sessions';
/** What can stand in a header of ours as it came. */
const PLAIN = /^[\x21-\x7e]+$/;

export function registerEmbedSession(
  app: FastifyInstance,
  deps: { issueSession(request: SessionRequest): Promise<IssueAnswer> },
): void {
  app.options(PATH, { config: { specified: true } }, async (request, reply) => {
    allowReading(request, reply);
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': PREFLIGHT_SECONDS,
      })
      .send();
  });

  app.post(
    PATH,
    {
      config: { specified: true },
      onRequest: async (request, reply) => {
        allowReading(request, reply);
        reply.header('referrer-policy', 'no-referrer');
      },
    },
    async (request) => {
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
  );
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
