/**
 * Refuses query parameters that an operation below `/api/developer` or `/api/console` does not have, naming those
 * that it has: a filter with a slip in its name would answer with everything. What there is, the route's schema says.
 * The specification's own operations are left as they are.
 */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { z } from 'zod';
import { Refusal } from './refusal.ts';

const PLACE_HOLDER = '<key>';
const BELOW = /^\/api\/(developer|console)\//;

/** Before any route is registered. The check comes after the guard's. */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    if (!BELOW.test(route.url) || route.config?.specified === true) return;
    const shape = (route.schema?.querystring as z.ZodObject | undefined)?.shape ?? {};
    const known = Object.keys(shape);
    const check = async (request: FastifyRequest): Promise<void> => {
      const unknown = Object.keys(request.query as object).filter((name) => !isKnown(known, name));
      if (unknown.length === 0) return;
      const issue = `is not known here. ${known.length === 0 ? 'This takes no parameters' : `There are: ${known.join(', ')}`}`;
      throw new Refusal('invalid_request', { details: unknown.map((field) => ({ field, issue })) });
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), check];
  });
}

/** `metadata.<key>` stands for each name that begins with `metadata.`. */
function isKnown(known: readonly string[], name: string): boolean {
  return known.some((one) =>
    one.endsWith(PLACE_HOLDER) ? name.startsWith(one.slice(0, -PLACE_HOLDER.length)) : one === name,
  );
}
