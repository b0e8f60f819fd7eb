/**
 * The website of the demo: a server of a customer's own, on an origin of its own. It holds the API key, which never
 * reaches a browser: its page asks it to ring the simulated phone, and is told what it reads of the call's events,
 * webhook and log entry.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ConversationEvent } from '../../media/contract/conversation.ts';
import { loadWidgetFiles } from '../../src/api/widget/widget-files.ts';
import { EMULATED_CALLEE_NUMBER } from '../../src/carriers/emulated-account.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import type { FollowedEvent } from '../harness/call-client.ts';
import type { Gateway } from '../harness/gateway.ts';
import type { Play } from './play.ts';

export interface PageServer {
  url: string;
  close(): void;
}

/** One line of the page's story. */
interface Line {
  who: 'agent' | 'user' | 'fact';
  mark: string;
  text: string;
  last?: boolean;
}

const UUID_PATH = /^\/rings\/([0-9a-f-]{36})$/;

/** `publicKey` null: the page cannot talk, only ring. */
export async function startPageServer(
  gateway: Gateway,
  options: { port: number; publicKey: string | null; play: Play },
): Promise<PageServer> {
  const files = {
    '/': { type: 'text/html; charset=utf-8', body: page(gateway, options.publicKey, options.play.page) },
    '/page.css': { type: 'text/css; charset=utf-8', body: read('page.css') },
    '/page.js': { type: 'text/javascript; charset=utf-8', body: read('page.js') },
  } as Record<string, { type: string; body: string }>;

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const told = UUID_PATH.exec(path)?.[1];
    const file = files[path];
    if (request.method === 'POST' && path === '/ring') void ring(gateway, options.play, response);
    else if (told !== undefined) void tell(gateway, told, response);
    else if (file !== undefined) response.writeHead(200, { 'content-type': file.type }).end(file.body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(options.port, 'localhost', resolve));
  return { url: `http://localhost:${options.port}`, close: () => server.closeAllConnections() ?? server.close() };
}

function read(name: string): string {
  return readFileSync(join(packageRoot(), 'bench', 'demo', 'page', name), 'utf8');
}

function page(gateway: Gateway, publicKey: string | null, { title, phrases }: Play['page']): string {
  const base = gateway.service.publicUrl;
  const talk = `<button type="button" class="main" data-service-talk>Talk to the agent</button>
<a href="${base}/talk/${publicKey}/${gateway.agentId}">Open the page with transcript, levels and reply times</a>`;
  const embed = `<script async src="${base}/embed.js" data-public-key="${publicKey}" data-agent-id="${gateway.agentId}" data-ui="custom" data-panel="overlay" data-title="${title}"></script>`;
  const html = read('index.html');
  return (publicKey === null ? html.replace(/<section[^>]*web-title[\s\S]*?<\/section>/, '') : html)
    .replaceAll('{{base}}', base)
    .replaceAll('{{title}}', title)
    .replace('{{phrases}}', phrases.map((phrase) => `“${phrase}”`).join(', '))
    .replace('{{stylesheet}}', loadWidgetFiles(packageRoot())?.nameOf('page') ?? '')
    .replace('{{talk}}', publicKey === null ? '' : talk)
    .replace('{{embed}}', publicKey === null ? '' : embed);
}

async function ring(gateway: Gateway, { metadata }: Play, response: ServerResponse): Promise<void> {
  const { agentId, enterprise, lineId } = gateway;
  const placed = await gateway.client
    .place({ to: EMULATED_CALLEE_NUMBER, agentId, enterprise, from: lineId, name: 'Dana', metadata: { ...metadata } })
    .catch((error: Error) => ({ httpStatus: 502, body: { success: false, message: error.message } }));
  response.writeHead(placed.httpStatus, { 'content-type': 'application/json' }).end(JSON.stringify(placed.body));
}

/** Server-sent events of one call, to its log entry. */
async function tell(gateway: Gateway, callUuid: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const say = (line: Line): void => void response.write(`data: ${JSON.stringify(line)}\n\n`);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  try {
    const webhook = gateway.receiver.waitFor((one) => one.callUuid === callUuid);
    webhook.catch(() => {});
    for await (const event of gateway.client.follow(callUuid, gone.signal)) {
      const line = lineOf(event);
      if (line !== null) say(line);
    }
    const { event, verified } = await webhook;
    say({ who: 'fact', mark: 'webhook', text: `${event}, signature ${verified ? 'verified' : 'NOT VERIFIED'}` });
    const entry = await gateway.client.waitFor(
      callUuid,
      'the recording',
      ({ answeredAt, recording }) => answeredAt === null || ['ready', 'failed'].includes(recording?.status ?? ''),
    );
    const recording = entry.recording?.status ?? 'none';
    const text = `${entry.status}, ${entry.durationSeconds ?? 0} s, recording ${recording}`;
    say({ who: 'fact', mark: 'call log', text, last: true });
  } catch (error) {
    if (!gone.signal.aborted) say({ who: 'fact', mark: 'failed', text: (error as Error).message, last: true });
  }
  response.end();
}

function lineOf(event: FollowedEvent): Line | null {
  if (event.kind === 'status') return { who: 'fact', mark: 'state', text: String(event.data['status']) };
  const happened = { type: event.kind, ...event.data } as ConversationEvent;
  if (happened.type === 'latency') {
    return {
      who: 'fact',
      mark: 'reply',
      text: `${Math.round(happened.latency.agentMs)} ms after the callee's last sound`,
    };
  }
  if (happened.type !== 'turn' || happened.turn.heardText === '') return null;
  const { role, heardText, interrupted } = happened.turn;
  return role === 'agent'
    ? { who: 'agent', mark: 'Agent', text: interrupted ? `${heardText} — interrupted` : heardText }
    : { who: 'user', mark: 'Callee', text: heardText };
}
