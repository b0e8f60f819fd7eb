/** What probes and people without a key may ask, described for the published document. */
import { z } from 'zod';
import { COMMON, json, none, type Operation } from './openapi/operation.ts';
import { aliveAnswer, readyAnswer } from './service-answers.ts';

const open = { ...none, tag: 'Service', scope: null, method: 'get' } as const;

export const serviceOperations: readonly Operation[] = [
  {
    ...open,
    route: '/livez',
    id: 'alive',
    summary: 'The process answers',
    description: 'Depends on nothing else; for liveness probes.',
    answers: { 200: json('It does.', aliveAnswer) },
    errors: COMMON,
  },
  ...(['/readyz', '/healthz'] as const).map(
    (route): Operation => ({
      ...open,
      route,
      id: route === '/readyz' ? 'ready' : 'healthy',
      summary: 'The service can take calls',
      description: 'Yes or no; for readiness probes and load balancers.',
      answers: {
        200: json('Every check is well.', readyAnswer),
        503: json('At least one is not.', readyAnswer, { 'Retry-After': 'Seconds' }),
      },
      errors: COMMON,
    }),
  ),
  {
    ...open,
    route: '/openapi.json',
    id: 'openapi',
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    answers: { 200: json('The document.', z.looseObject({ openapi: z.literal('3.1.1') })) },
    errors: COMMON,
  },
  {
    ...open,
    route: '/docs',
    id: 'docs',
    summary: 'This document as a page',
    description: 'Needs no script and nothing from elsewhere.',
    answers: { 200: { description: 'The page.', content: { 'text/html': z.string() } } },
    errors: COMMON,
  },
];
