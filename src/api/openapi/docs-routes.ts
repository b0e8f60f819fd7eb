/**
 * `/docs`: the API as a page to read and to try. What it loads is small text of ours, and two files that the build has
 * put into `dist/reference` (`scripts/build-reference.mjs`); they are read when somebody first opens the page. For
 * anybody.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { packageRoot } from '../../config/built-entry.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { DOCS_PAGE, DOCS_POLICY, DOCS_START, DOCS_STYLE } from './docs-page.ts';

interface PageFile {
  type: string;
  gzip: Buffer;
  etag: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const OURS = {
  'start.js': { type: SCRIPT, text: DOCS_START },
  'page.css': { type: STYLE, text: DOCS_STYLE },
};
const BUILT = { 'reference.js': SCRIPT, 'reference.css': STYLE };
const SAFE = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' };

const unzip = promisify(gunzip);

export function registerDocs(app: FastifyInstance): void {
  const route = routesOn(app, null);
  const read = new Map<string, PageFile>();

  route({
    method: 'get',
    path: '/docs',
    id: 'docs',
    tag: 'Service',
    summary: 'This document as a page',
    description: 'To read and to try, also without the internet: it loads nothing from elsewhere and asks nobody else.',
    scope: null,
    answers: { 200: { description: 'The page.', content: { 'text/html': z.string() } } },
    async handler(_request, reply) {
      return reply
        .headers({ ...SAFE, 'content-security-policy': DOCS_POLICY })
        .type('text/html; charset=utf-8')
        .serializer(String)
        .send(DOCS_PAGE);
    },
  });

  route({
    method: 'get',
    path: '/docs/:file',
    id: 'docsFile',
    tag: 'Service',
    summary: 'A part of the page',
    description: 'Loaded by it.',
    scope: null,
    params: z.object({ file: z.string() }),
    answers: {
      200: { description: 'The file.', content: { 'text/javascript': z.string(), 'text/css': z.string() } },
      304: { description: 'Not changed (If-None-Match).', content: {} },
    },
    errors: ['not_found'],
    async handler(request, reply) {
      const { type, gzip, etag } = await fileNamed(request.params.file);
      reply.headers({ ...SAFE, vary: 'accept-encoding', etag });
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      reply.type(type);
      if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(await unzip(gzip));
      return reply.header('content-encoding', 'gzip').send(gzip);
    },
  });

  async function fileNamed(name: string): Promise<PageFile> {
    const known = read.get(name);
    if (known !== undefined) return known;
    const file = await readFileNamed(name);
    read.set(name, file);
    return file;
  }
}

async function readFileNamed(name: string): Promise<PageFile> {
  if (isKeyOf(OURS, name)) return fileOf(OURS[name].type, gzipSync(OURS[name].text));
  if (!isKeyOf(BUILT, name)) throw new Refusal('not_found');
  try {
    return fileOf(BUILT[name], await readFile(join(packageRoot(), 'dist', 'reference', `${name}.gz`)));
  } catch (error) {
    // Not built yet; the page says so. It may be by the next time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refusal('not_found');
    throw error;
  }
}

function isKeyOf<Known extends object>(known: Known, name: string): name is Extract<keyof Known, string> {
  return Object.hasOwn(known, name);
}

function fileOf(type: string, gzip: Buffer): PageFile {
  return { type, gzip, etag: `"${createHash('sha256').update(gzip).digest('base64url').slice(0, 22)}"` };
}
