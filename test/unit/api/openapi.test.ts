import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDocument } from '../../../src/api/openapi/document.ts';
import { operationsWithoutServer } from '../../../src/api/openapi/without-a-server.ts';
import { ERROR_CODES } from '../../../src/errors/error-codes.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

const OPERATIONS = await operationsWithoutServer();

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at by its paths
type Loose = any;

let api: ApiFixture;
let routes: string[];
let document: Loose;
beforeAll(async () => {
  api = await createApiFixture();
  await api.app.ready();
  routes = routesOf(api.app.printRoutes({ commonPrefix: false }));
  const answer = await api.app.inject('/openapi.json');
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  document = answer.json();
});
afterAll(() => api.close());

/** Fastify's tree of whole paths: `├── /livez (GET, HEAD)`. */
function routesOf(tree: string): string[] {
  const found: string[] = [];
  const above: string[] = [];
  for (const line of tree.split('\n')) {
    const match = /^((?:[│ ] {3})*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?$/.exec(line);
    if (match === null) continue;
    const depth = (match[1] ?? '').length / 4;
    above.length = depth;
    above.push(match[2] ?? '');
    const methods = (match[3] ?? '').split(', ').filter((method) => method !== '' && method !== 'HEAD');
    for (const method of methods) found.push(`${method.toLowerCase()} ${above.join('')}`);
  }
  return found;
}

describe('/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(document.openapi).toBe('3.1.1');
  });

  it('is linted without a finding but three that are meant', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const source = JSON.stringify(await buildDocument(OPERATIONS, 'https://voice.acme-calls.net'));
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    expect(found.map(({ ruleId, message }) => [ruleId, message])).toEqual([
      // The second path is the specification's. A lead's id is a UUID, which `import` is not, so no request fits both.
      [
        'no-ambiguous-paths',
        'Paths should resolve unambiguously. Found two ambiguous paths: `/api/developer/leads/import/{importId}` and `/api/developer/leads/{leadId}/call`.',
      ],
      // A recording, and the console after a way to the provider, is where the redirection leads; these operations have
      // no other answer.
      ['operation-2xx-response', 'Operation must have at least one `2XX` response.'],
      ['operation-2xx-response', 'Operation must have at least one `2XX` response.'],
    ]);
    const redirecting = found.slice(1).map(({ location }) => location[0]?.pointer ?? '');
    expect(redirecting.filter((pointer) => pointer.includes('~1recording/get'))).toHaveLength(1);
    expect(redirecting.filter((pointer) => pointer.includes('~1openid~1callback/get'))).toHaveLength(1);
    const faulty = source.replace('"operationId":"placeCall",', '');
    const again = await lintFromString({ source: faulty, absoluteRef: '/openapi.json', config });
    expect(again.map(({ ruleId }) => ruleId)).toContain('operation-operationId');
  });

  it('describes exactly the operations that the server has', () => {
    expect(routes.length).toBeGreaterThan(10);
    // For people there is a second door to each, which is not described again.
    const doubled = OPERATIONS.filter(({ scope }) => scope !== null && scope !== 'person').map(
      ({ method, route, scope }) => {
        const below = scope === 'operator' ? '/api/console/operator/' : '/api/console/w/:enterprise/';
        return `${method} ${route.replace(/^\/api\/(developer\/)?/, below)}`;
      },
    );
    const described = OPERATIONS.map(({ method, route }) => `${method} ${route}`);
    expect([...described, ...doubled].toSorted()).toEqual(routes.toSorted());
  });

  it('points only to schemas that it has, and its ids are its own', () => {
    const text = JSON.stringify(document);
    const targets = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    expect(targets.length).toBeGreaterThan(20);
    for (const target of targets) {
      expect(target).toMatch(/^#\/components\/schemas\//);
      expect(document.components.schemas).toHaveProperty([target.split('/').at(-1)!]);
    }
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has the body of the outbound call with its patterns and limits, from the schema that checks it', () => {
    const { requestBody } = document.paths['/api/outbound-call'].post;
    expect(requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/OutboundCall' });
    const { properties, required } = document.components.schemas.OutboundCall;
    expect(required).toEqual(['to', 'agentId', 'enterprise', 'from']);
    expect(properties.to.pattern).toBe('^\\+[1-9]\\d{6,14}$');
    expect(properties.name.anyOf[0].maxLength).toBe(120);
    expect(properties.metadata.anyOf[0].maxProperties).toBe(50);
  });

  it('holds every code that is published, and each code of an operation under its status', async () => {
    const published = (await api.app.inject('/api/developer/error-codes')).json().data;
    expect(document['x-error-codes']).toEqual(published);
    expect(published.map((one: { code: string }) => one.code)).toEqual(ERROR_CODES);
    const { responses } = document.paths['/api/outbound-call'].post;
    expect(Object.keys(responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '408',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '502',
      '503',
    ]);
    expect(responses[429].headers['X-Error-Code'].description).toBe(
      '`api_rate_limit`, `cps_limit`, `concurrency_limit`, `line_switched_off`, `daily_limit`, `carrier_throttled`, `open_requests_limit`',
    );
    expect(responses[401].content['application/json'].schema.$ref).toMatch(/ShortError$/);
  });
});

describe('/docs', () => {
  it('holds no script or style of its own and names nothing from elsewhere, and its policy allows neither', async () => {
    const { body, headers } = await api.app.inject('/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).not.toMatch(
      /<script(?! defer src="\/docs\/)|<style|<img|<iframe|\son\w+=|\sstyle=|javascript:|@import|url\(/i,
    );
    const named = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(named.filter((address) => !/^\/[a-z]/.test(address))).toEqual(['data:,']);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('serves what it names, not again when nothing changed, and no other file', async () => {
    for (const [file, type] of [
      ['start.js', 'text/javascript; charset=utf-8'],
      ['page.css', 'text/css; charset=utf-8'],
    ]) {
      const { statusCode, headers } = await api.app.inject(`/docs/${file}`);
      expect([statusCode, headers['content-type'], headers['x-content-type-options']]).toEqual([200, type, 'nosniff']);
      const again = await api.app.inject({
        url: `/docs/${file}`,
        headers: { 'if-none-match': String(headers['etag']) },
      });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
    for (const file of ['..%2f..%2fpackage.json', 'reference.js.gz', 'LICENSE', 'constructor', 'x']) {
      expect((await api.app.inject(`/docs/${file}`)).statusCode, file).toBe(404);
    }
  });
});
