/** `POST /api/embed/session` and its preflight, described for the published document. */
import { BODY, COMMON, json, none, type Operation } from '../openapi/operation.ts';
import { sessionAnswer, sessionBody } from './answers.ts';

const READABLE = {
  'Access-Control-Allow-Origin': 'The Origin of the request',
  'Access-Control-Expose-Headers': 'X-Error-Code, X-Request-Id, Retry-After',
};

export const embedOperations: readonly Operation[] = [
  {
    ...none,
    method: 'post',
    route: '/api/embed/session',
    id: 'createEmbedSession',
    tag: 'Web',
    summary: 'A token for one conversation on a web page',
    description:
      'Called by the page itself. The widget key and the Origin decide; the token opens one WebSocket at /ws/live within 60 s (docs/live-protocol.md).',
    scope: null,
    specified: true,
    headers: { Origin: "The page's origin; browsers send it." },
    body: sessionBody,
    answers: { 200: json('The token.', sessionAnswer, { ...READABLE, 'Referrer-Policy': 'no-referrer' }) },
    errors: [
      ...BODY,
      'missing_fields',
      'invalid_parent_origin',
      'invalid_public_key',
      'origin_not_allowed',
      'agent_not_found',
      'embed_rate_limit',
      'concurrency_limit',
      'draining',
      ...COMMON,
    ],
  },
  {
    ...none,
    method: 'options',
    route: '/api/embed/session',
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
    errors: COMMON,
  },
];
