/**
 * Everything that the rows stand on: a service with its emulated carrier, a workspace that is set up over the settings
 * API alone, and the long scenes (calls, a web session, a visitor's browser), which begin at once and run beside the
 * rows that need none of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Call, createParleyClient, type ParleyClient } from '../../clients/typescript/src/client.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { SCOPES } from '../../src/workspaces/api-keys.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { LiveClient, type LiveMessage } from '../live-client/live-client.ts';
import { loadVisitorVoice } from '../live-client/visitor-voice.ts';
import { NUMBERS, PERSONAS, phoneAgent, webAgent } from './agents.ts';
import { startSite, type Visit, visitPage } from './browser-visit.ts';
import { type CustomerServer, startCustomerServer } from './customer-server.ts';
import { type Exchange, recordingFetch } from './exchanges.ts';

export interface Workspace {
  slug: string;
  key: string;
  agentId: string;
  webAgentId: string;
  lineId: string;
  publicKey: string;
}

/** A conversation to its end. */
export interface FinishedCall {
  callUuid: string;
  entry: Call;
}

export interface WebTalk {
  token: string;
  callUuid: string;
  transcript: string[];
  messages: string[];
  closeCode: number;
}

export interface Stage {
  base: string;
  gateway: Gateway;
  customer: CustomerServer;
  acme: Workspace;
  operatorKey: string;
  /** The website's origin. */
  origin: string;
  /** Tells what it sends, for the row that is shown. */
  client: ParleyClient;
  /** Of the same key; what it sends is not told. */
  quiet: ParleyClient;
  /** The same with another key, or none. */
  clientOf(apiKey: string | undefined): ParleyClient;
  fetch: typeof globalThis.fetch;
  /** What went over the wire since it was last asked. */
  takeExchanges(): Exchange[];
  tell(exchange: Exchange): void;
  placedBefore: { answer: Exchange; statusThen: string };
  main: Promise<FinishedCall>;
  absent: Promise<string>;
  unallocated: Promise<string>;
  web: Promise<WebTalk>;
  /** Null: no Chromium on this machine. */
  visit: Promise<Visit | null>;
  close(): Promise<void>;
}

const SLOW_ANSWER_MS = 3_600;
/** What the website's agent wants an answer to, and what it says when it did not understand one or hears nothing. */
const ASKS = ['show you the shop', 'say that again', 'Are you there'];

/** `settings`: more of the service's. */
export async function setStage(log: (line: string) => void, settings: Record<string, string>): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-tour-'));
  const customer = await startCustomerServer();
  const site = await startSite();
  const gateway = await startGateway({
    dataDir,
    agent: { kind: 'tone', name: 'Unused', direction: 'outbound', toneHz: 440 },
    personas: PERSONAS,
    settings,
    volatileDatabase: true,
    log,
  });
  const base = gateway.service.publicUrl;
  let exchanges: Exchange[] = [];
  const tell = (exchange: Exchange): void => void exchanges.push(exchange);
  const fetch = recordingFetch(tell);
  const clientOf = (apiKey: string | undefined): ParleyClient =>
    createParleyClient({ baseUrl: base, fetch, ...(apiKey === undefined ? {} : { apiKey }) });

  const operatorKey = await makeOperatorKey(gateway);
  const acme = await makeWorkspace(gateway, customer, operatorKey, site.origin);
  const quiet = createParleyClient({ baseUrl: base, apiKey: acme.key });
  const client = clientOf(acme.key);

  const placed = await client.placeCall({
    body: {
      to: NUMBERS.dana,
      agentId: acme.agentId,
      enterprise: acme.slug,
      from: acme.lineId,
      name: 'Dana',
      metadata: { order_id: 'A-17', delivery_day: 'Thursday' },
    },
  });
  const statusThen = (await quiet.readCall({ callUuid: placed.data.callUuid })).data.status;
  const [answer] = exchanges;
  exchanges = [];

  // Before the call is placed: it may be over, and told, before its id is known here.
  customer.beSlowOnce('call.no_answer', NUMBERS.absent, SLOW_ANSWER_MS);
  const scenes = {
    main: finish(quiet, placed.data.callUuid),
    absent: quickCall(quiet, acme, NUMBERS.absent),
    unallocated: quickCall(quiet, acme, NUMBERS.unallocated),
    web: talkOnTheWeb(base, acme, site.origin),
  };
  // One talking scene after the other: a small machine listens for all of them.
  const visit = scenes.web.then(() => visitPage(site, { base, publicKey: acme.publicKey, agentId: acme.webAgentId }));
  for (const scene of [...Object.values(scenes), visit]) scene.catch(() => {});

  return {
    base,
    gateway,
    customer,
    acme,
    operatorKey,
    origin: site.origin,
    client,
    quiet,
    clientOf,
    fetch,
    takeExchanges: () => exchanges.splice(0),
    tell,
    placedBefore: { answer: answer!, statusThen },
    ...scenes,
    visit,
    async close() {
      await visit.catch(() => {});
      await gateway.stop();
      customer.close();
      site.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** As an operator at a shell: `parley operator create --name tour`. */
async function makeOperatorKey(gateway: Gateway): Promise<string> {
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const code = await runCli(['operator', 'create', '--name', 'tour'], {
    environment: {
      DATABASE_URL: gateway.service.databaseUrl,
      PARLEY_MASTER_KEY: gateway.service.masterKeyHex,
      USER: 'tour',
    },
    write: print,
    writeError: print,
    readInput: async () => '',
  });
  const key = /sv_oper_\w+/.exec(printed)?.[0];
  if (code !== 0 || key === undefined) throw new Error(`parley operator create ended with ${code}: ${printed}`);
  return key;
}

/** All of it over HTTP with the generated client, as an application's settings page would. */
async function makeWorkspace(
  gateway: Gateway,
  customer: CustomerServer,
  operatorKey: string,
  origin: string,
): Promise<Workspace> {
  const baseUrl = gateway.service.publicUrl;
  const operator = createParleyClient({ baseUrl, apiKey: operatorKey });
  const slug = 'acme';
  await operator.createWorkspace({ body: { slug, name: 'Acme' } });
  const limits = { concurrentCalls: 20, callsPerSecond: 20, apiRequestsPerSecond: 200, apiBurst: 400 };
  await operator.changeWorkspace({ slug, body: { apiEnabled: true, limits } });
  const made = await operator.createWorkspaceKey({ slug, body: { name: 'tour', scopes: [...SCOPES] } });
  const parley = createParleyClient({ baseUrl, apiKey: made.data.secret });
  await parley.setToolSecret({ name: 'SHOP_KEY', body: { value: 'shop-secret' } });
  const agent = await parley.createAgent({ body: { definition: phoneAgent(customer.toolUrl) } });
  const forWeb = await parley.createAgent({ body: { definition: webAgent() } });
  const { authId, authToken } = gateway.emulator.credentials;
  const line = await parley.createPhoneNumber({
    body: {
      number: '+14155550190',
      carrier: 'plivo',
      credentials: { authId, authToken },
      limits: { concurrentCalls: 20, callsPerSecond: 20 },
    },
  });
  const webhook = await parley.setWebhook({ body: { url: customer.webhookUrl } });
  customer.setSecret(webhook.data.secret ?? '');
  const widgetKey = await parley.createWidgetKey({ body: { name: 'Shop', allowedOrigins: [origin] } });
  return {
    slug,
    key: made.data.secret,
    agentId: agent.data.agent.id,
    webAgentId: forWeb.data.agent.id,
    lineId: line.data.phoneNumber.id,
    publicKey: widgetKey.data.widgetKey.publicKey,
  };
}

/** Until the recording and the analysis are there. */
export async function finish(quiet: ParleyClient, callUuid: string): Promise<FinishedCall> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const { data: entry } = await quiet.readCall({ callUuid });
    const isOver = ['completed', 'no_answer', 'failed'].includes(entry.status);
    const isReady = entry.recording.status !== 'pending' && !['none', 'pending'].includes(entry.analysisStatus);
    if (isOver && (isReady || entry.answeredAt === null)) return { callUuid, entry };
    if (performance.now() > untilMs) {
      throw new Error(
        `the call is ${entry.status}, recording ${entry.recording.status}, analysis ${entry.analysisStatus}`,
      );
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function quickCall(quiet: ParleyClient, acme: Workspace, to: string): Promise<string> {
  const { data } = await quiet.placeCall({
    body: { to, agentId: acme.agentId, enterprise: acme.slug, from: acme.lineId },
  });
  return data.callUuid;
}

async function talkOnTheWeb(base: string, acme: Workspace, origin: string): Promise<WebTalk> {
  const page = createParleyClient({ baseUrl: base });
  const asked = await page.createEmbedSession(
    { body: { publicKey: acme.publicKey, agentId: acme.webAgentId, parentOrigin: origin } },
    { headers: { origin } },
  );
  const { token } = asked.data;
  const live = new LiveClient({ baseUrl: base, token, parentOrigin: origin, start: { name: 'Asha' } });
  const { callUuid } = await live.waitForType('session.ready');
  live.begin();
  const voice = await loadVisitorVoice();
  const yes = await voice('yes please', live.micRateHz);
  /** The visitor answers each question once, and once more each time that it was not understood. */
  const answered = new Set<string>();
  const question = ({ type, role, text, final, turnId }: LiveMessage): boolean =>
    type === 'transcript' &&
    role === 'agent' &&
    final === true &&
    ASKS.some((asks) => text.includes(asks)) &&
    !answered.has(turnId);
  for (;;) {
    const message = await live.waitFor('a question', (one) => one.type === 'session.ended' || question(one));
    if (message.type === 'session.ended') break;
    answered.add(message['turnId']);
    live.say(yes);
  }
  const closeCode = await live.closed;
  const messages = [...new Set(live.messages.map(({ type }) => type))];
  return { token, callUuid: String(callUuid), transcript: live.transcript, messages, closeCode };
}
