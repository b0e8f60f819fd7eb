/**
 * `/openapi.json` and `/docs`: made once, from the same description, when somebody first asks for one of them: a process that starts again
 * under calls has better things to do. For anybody, because they hold nothing of a workspace.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { DOCS_STYLE, docsPage } from './docs-page.ts';
import { buildDocument } from './document.ts';

export function registerOpenApi(app: FastifyInstance, deps: { publicUrl: string }): void {
  let made: Promise<{ document: string; page: string }> | null = null;
  const make = async (): Promise<{ document: string; page: string }> => {
    const document = await buildDocument(deps.publicUrl);
    return { document: JSON.stringify(document), page: docsPage(document, deps.publicUrl) };
  };
  const both = (): Promise<{ document: string; page: string }> => {
    made ??= make();
    return made;
  };
  const style = createHash('sha256').update(DOCS_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  app.get('/openapi.json', async (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .serializer(String)
      .send((await both()).document),
  );
  app.get('/docs', async (_request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff' })
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send((await both()).page),
  );
}
