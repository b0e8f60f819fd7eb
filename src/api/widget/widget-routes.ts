/**
 * `/embed.js` and what it loads, and the two pages that people look at. All of it is public and the same for everybody:
 * any page may load it, so CORS is open and Subresource Integrity works. `embed.js` is evergreen and cached for 5 min;
 * a version of it and every part, which has its hash in its name, never change.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { packageRoot } from '../../config/built-entry.ts';
import { findActiveWidgetKey } from '../../embed/widget-keys.ts';
import type { Queryable } from '../../store/database.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { page, script, unchanged, versionsAnswer } from './answers.ts';
import { doctorPage, pageHeaders, previewPage, talkPage } from './pages.ts';
import { loadWidgetFiles, type WidgetFile, type WidgetFiles } from './widget-files.ts';

const EVERGREEN = 'public, max-age=300, stale-while-revalidate=86400';
const IMMUTABLE = 'public, max-age=31536000, immutable';
const PUBLIC_KEY = /^[A-Za-z0-9_-]{1,128}$/;
const AGENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const VERSION_FILE = /^(\d+\.\d+\.\d+)\.js$/;

export interface WidgetDeps {
  publicUrl: string;
  database: Queryable;
}

export function registerWidget(app: FastifyInstance, { publicUrl, database }: WidgetDeps): void {
  const route = routesOn(app, null);
  let loaded: WidgetFiles | null = null;
  const files = (): WidgetFiles => {
    loaded ??= loadWidgetFiles(packageRoot());
    if (loaded === null) throw new Refusal('not_found');
    return loaded;
  };
  const current = (): WidgetFile => found(files().loaders.get(files().version));

  route({
    method: 'get',
    path: '/embed.js',
    id: 'embedScript',
    tag: 'Service',
    summary: 'The embed script',
    description: 'Evergreen; cached for 5 min. `docs/embed-script.md` says how a website uses it.',
    scope: null,
    answers: { 200: script, 304: unchanged },
    errors: ['not_found'],
    handler: async (request, reply) => send(request, reply, current(), EVERGREEN),
  });

  route({
    method: 'get',
    path: '/embed/versions.json',
    id: 'embedVersions',
    tag: 'Service',
    summary: 'Versions of the embed script',
    description: 'Each with its address and its hash for Subresource Integrity.',
    scope: null,
    answers: { 200: json('The versions.', versionsAnswer) },
    errors: ['not_found'],
    async handler(_request, reply) {
      const { version, loaders } = files();
      const versions = [...loaders].map(([of, { integrity }]) => ({
        version: of,
        src: `${publicUrl}/embed/${of}.js`,
        integrity,
      }));
      return reply
        .headers({ 'access-control-allow-origin': '*', 'cache-control': EVERGREEN })
        .send({ current: version, versions });
    },
  });

  route({
    method: 'get',
    path: '/embed/:file',
    id: 'embedScriptOfVersion',
    tag: 'Service',
    summary: 'The embed script of one version',
    description: '`/embed/1.4.2.js`: never changes, so it can be pinned with the hash of `/embed/versions.json`.',
    scope: null,
    params: z.object({ file: z.string() }),
    answers: { 200: script, 304: unchanged },
    errors: ['not_found'],
    async handler(request, reply) {
      const version = VERSION_FILE.exec(request.params.file)?.[1] ?? '';
      return send(request, reply, found(files().loaders.get(version)), IMMUTABLE);
    },
  });

  route({
    method: 'get',
    path: '/embed/assets/:file',
    id: 'embedAsset',
    tag: 'Service',
    summary: 'A part of the embed script',
    description: 'Loaded by it; the name holds a hash of the content.',
    scope: null,
    params: z.object({ file: z.string() }),
    answers: { 200: script, 304: unchanged },
    errors: ['not_found'],
    handler: async (request, reply) => send(request, reply, found(files().assets.get(request.params.file)), IMMUTABLE),
  });

  route({
    method: 'get',
    path: '/talk/:publicKey/:agentId',
    id: 'talkPage',
    tag: 'Service',
    summary: 'A page to talk to an agent',
    description: 'Hosted by the service, for links; its own origin is always allowed for its key.',
    scope: null,
    params: z.object({ publicKey: z.string(), agentId: z.string() }),
    answers: { 200: page },
    errors: ['not_found'],
    async handler(request, reply) {
      const { publicKey, agentId } = request.params;
      if (!PUBLIC_KEY.test(publicKey) || !AGENT_ID.test(agentId)) throw new Refusal('not_found');
      // Of a key that nobody knows the page says itself what is wrong.
      const key = await findActiveWidgetKey(database, publicKey);
      return sendPage(reply, pageHeaders(publicUrl, key?.allowedOrigins), talkPage(files(), { publicKey, agentId }));
    },
  });

  route({
    method: 'get',
    path: '/embed/doctor',
    id: 'embedDoctor',
    tag: 'Service',
    summary: 'A page that finds what keeps a visitor from talking',
    description: 'Permission, policy, codec, echo, network; each with its way out.',
    scope: null,
    answers: { 200: page },
    errors: ['not_found'],
    handler: async (_request, reply) => sendPage(reply, pageHeaders(publicUrl), doctorPage(files())),
  });

  route({
    method: 'get',
    path: '/embed/preview',
    id: 'embedPreview',
    tag: 'Service',
    summary: 'The widget without a call',
    description: 'For the frame in which the console shows how it looks.',
    scope: null,
    answers: { 200: page },
    errors: ['not_found'],
    handler: async (_request, reply) => sendPage(reply, pageHeaders(publicUrl), previewPage(files())),
  });
}

function found(file: WidgetFile | undefined): WidgetFile {
  if (file === undefined) throw new Refusal('not_found');
  return file;
}

function send(request: FastifyRequest, reply: FastifyReply, file: WidgetFile, caching: string): FastifyReply {
  const etag = `"${file.integrity.slice(7, 29)}"`;
  reply.headers({
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': caching,
    vary: 'accept-encoding',
    etag,
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  reply.type(file.type);
  if (/\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(file.brotli);
  if (/\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(file.gzip);
  return reply.send(file.bytes);
}

function sendPage(reply: FastifyReply, headers: Record<string, string>, html: string): FastifyReply {
  return reply.headers(headers).type('text/html; charset=utf-8').send(html);
}
