/** What browsers fetch without a key, described for the published document. */
import { z } from 'zod';
import { type Answer, COMMON, json, none, type Operation } from '../openapi/operation.ts';

const script: Answer = { description: 'The file.', content: { 'text/javascript': z.string(), 'text/css': z.string() } };
const unchanged: Answer = { description: 'Not changed (If-None-Match).', content: {} };
const page: Answer = { description: 'The page.', content: { 'text/html': z.string() } };
const open = { ...none, tag: 'Service', scope: null, method: 'get' } as const;
const MISSING = ['not_found', ...COMMON] as const;

const versionsAnswer = z
  .object({
    current: z.string(),
    versions: z.array(z.object({ version: z.string(), src: z.url(), integrity: z.string().startsWith('sha384-') })),
  })
  .meta({ id: 'EmbedVersions' });

export const widgetOperations: readonly Operation[] = [
  {
    ...open,
    route: '/embed.js',
    id: 'embedScript',
    summary: 'The embed script',
    description: 'Evergreen; cached for 5 min. `docs/embed-script.md` says how a website uses it.',
    answers: { 200: script, 304: unchanged },
    errors: MISSING,
  },
  {
    ...open,
    route: '/embed/:file',
    id: 'embedScriptOfVersion',
    summary: 'The embed script of one version',
    description: '`/embed/1.4.2.js`: never changes, so it can be pinned with the hash of `/embed/versions.json`.',
    params: z.object({ file: z.string() }),
    answers: { 200: script, 304: unchanged },
    errors: MISSING,
  },
  {
    ...open,
    route: '/embed/versions.json',
    id: 'embedVersions',
    summary: 'Versions of the embed script',
    description: 'Each with its address and its hash for Subresource Integrity.',
    answers: { 200: json('The versions.', versionsAnswer) },
    errors: MISSING,
  },
  {
    ...open,
    route: '/embed/assets/:file',
    id: 'embedAsset',
    summary: 'A part of the embed script',
    description: 'Loaded by it; the name holds a hash of the content.',
    params: z.object({ file: z.string() }),
    answers: { 200: script, 304: unchanged },
    errors: MISSING,
  },
  {
    ...open,
    route: '/talk/:publicKey/:agentId',
    id: 'talkPage',
    summary: 'A page to talk to an agent',
    description: 'Hosted by the service, for links; its own origin is always allowed for its key.',
    params: z.object({ publicKey: z.string(), agentId: z.string() }),
    answers: { 200: page },
    errors: MISSING,
  },
  {
    ...open,
    route: '/embed/doctor',
    id: 'embedDoctor',
    summary: 'A page that finds what keeps a visitor from talking',
    description: 'Permission, policy, codec, echo, network; each with its way out.',
    answers: { 200: page },
    errors: MISSING,
  },
];
