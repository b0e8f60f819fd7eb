/** `/openapi.json` and `/docs`: made once, from the same description; for anybody, because they hold nothing of a workspace. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { DOCS_STYLE, docsPage } from './docs-page.ts';
import { buildDocument } from './document.ts';

export function registerOpenApi(app: FastifyInstance, deps: { publicUrl: string }): void {
  const document = JSON.stringify(buildDocument(deps.publicUrl));
  const page = docsPage(deps.publicUrl);
  const style = createHash('sha256').update(DOCS_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').serializer(String).send(document),
  );
  app.get('/docs', async (_request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff' })
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(page),
  );
}
