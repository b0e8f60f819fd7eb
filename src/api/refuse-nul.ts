/**
 * Refuses NUL in what an address names and asks for: PostgreSQL takes none in a text, and no id, name or filter has
 * one. After the schemas, which have more to say where they look closer. The specification's own operations read no
 * query.
 */
import type { FastifyInstance } from 'fastify';
import { Refusal } from './refusal.ts';

/** Before any route is registered. */
export function refuseNul(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const { url = '', config } = request.routeOptions;
    const asked = { ...(config.specified === true ? {} : (request.query as object)), ...(request.params as object) };
    const details = Object.entries(asked)
      .filter(([, value]) => [value].flat().some((one) => typeof one === 'string' && one.includes('\u0000')))
      .map(([field]) => ({ field, issue: 'must not hold NUL' }));
    if (details.length === 0) return;
    const isOwn = url.startsWith('/api/developer/') && config.specified !== true;
    throw isOwn ? new Refusal('invalid_request', { details }) : new Refusal('bad_request');
  });
}
