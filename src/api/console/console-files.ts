/**
 * `/console/`: the application in which people look, listen, change and stop, as `scripts/build-console.mjs` has built
 * it. One page, whose parts have their hash in their name and lie there packed already; what it shows it asks of
 * `/api/console/` like any client. The page alone is public: it holds nothing of anybody. Read at the first request,
 * because tests run without a build.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { packageRoot } from '../../config/built-entry.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
/** Of what the build makes: a part, eight characters of its hash, a kind. */
const PART = /^[A-Za-z][\w-]*-[A-Z0-9]{8}\.(js|css)$/;
const SAFE = { 'referrer-policy': 'no-referrer' };

/**
 * Scripts, styles and requests of this origin and no other; no code that is text. The frame is `/talk`, in which an
 * agent is tried by voice. `publicUrl`: its sockets are named too, because not every browser counts them to
 * `'self'`.
 */
export function consolePolicy(publicUrl: string): string {
  const socket = new URL(publicUrl.replace(/^http/, 'ws')).origin;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${socket}`,
    "img-src 'self' data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** `/console/`, as addresses of the console have it, is `/console`: what the server's `rewriteUrl` is. */
export const consoleUrl = (url: string): string => url.replace(/^\/console\/(?=\?|$)/, '/console');

export function registerConsoleFiles(app: FastifyInstance, deps: { publicUrl: string }): void {
  const route = routesOn(app, null);
  const folder = join(packageRoot(), 'dist', 'console');
  const parts = new Map<string, Promise<Buffer>>();

  for (const [path, id] of [
    ['/', 'home'],
    ['/console', 'console'],
  ] as const) {
    route({
      method: 'get',
      path,
      id,
      tag: 'Service',
      summary: 'The console',
      description: 'The application of the people of a workspace. It loads nothing from elsewhere.',
      scope: null,
      answers: { 200: { description: 'The page.', content: { 'text/html': z.string() } } },
      errors: ['not_found'],
      async handler(_request, reply) {
        const html = await built(join(folder, 'index.html'));
        return reply
          .headers({
            ...SAFE,
            'content-security-policy': consolePolicy(deps.publicUrl),
            'cross-origin-opener-policy': 'same-origin',
            'permissions-policy': 'microphone=(self), autoplay=(self), camera=(), geolocation=()',
            'cache-control': 'no-store',
          })
          .type('text/html; charset=utf-8')
          .send(html);
      },
    });
  }

  route({
    method: 'get',
    path: '/console/assets/:file',
    id: 'consoleAsset',
    tag: 'Service',
    summary: 'A part of the console',
    description: 'Loaded by it; the name holds a hash of the content.',
    scope: null,
    params: z.object({ file: z.string() }),
    answers: {
      200: { description: 'The file.', content: { 'text/javascript': z.string(), 'text/css': z.string() } },
    },
    errors: ['not_found'],
    async handler(request, reply) {
      const { file } = request.params;
      const kind = PART.exec(file)?.[1];
      if (kind === undefined) throw new Refusal('not_found');
      const accepted = String(request.headers['accept-encoding'] ?? '');
      const form = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
      const ending = form === null ? '' : form === 'br' ? '.br' : '.gz';
      const bytes = await partNamed(`${file}${ending}`);
      reply.headers({ ...SAFE, 'cache-control': IMMUTABLE, vary: 'accept-encoding' }).type(TYPES[kind]!);
      if (form !== null) reply.header('content-encoding', form);
      return reply.send(bytes);
    },
  });

  /** Names that are asked for and do not exist are not kept: strangers could fill the memory with them. */
  function partNamed(name: string): Promise<Buffer> {
    const known = parts.get(name);
    if (known !== undefined) return known;
    const read = built(join(folder, 'assets', name));
    parts.set(name, read);
    read.catch(() => parts.delete(name));
    return read;
  }
}

async function built(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    // Not built yet, or of another build; it may be there by the next time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refusal('not_found');
    throw error;
  }
}
