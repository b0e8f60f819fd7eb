/**
 * A whole API server on a fresh database, with placement, admission and policy that a test
 * sets. Used by the tests beside it.
 */

import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { loadOpusCodec } from '../../../media/audio/opus-codec.ts';
import { ClipRefused } from '../../../media/clips/clip-refused.ts';
import { convertClip } from '../../../media/clips/convert-clip.ts';
import type { ToMedia } from '../../../media/contract/link-messages.ts';
import type { ControlAction, ControlOutcome } from '../../../media/contract/operator-control.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import type { OutboundRequest, OutboundResult } from '../../../media/net/outbound-http.ts';
import { renderSound } from '../../../media/recorder/render-sound.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { createCursorCodec } from '../../../src/api/cursor.ts';
import { exportedCalls } from '../../../src/api/exports/exported-calls.ts';
import { type ApiDeps, createApiServer } from '../../../src/api/server.ts';
import { createChainSigner } from '../../../src/audit/chain-signer.ts';
import { type CallEventBus, createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import type { CallRow } from '../../../src/calls/call-row.ts';
import type { AccessCheck } from '../../../src/carriers/carrier.ts';
import { openCarriers } from '../../../src/carriers/carriers.ts';
import { type Clips, createClips } from '../../../src/clips/clips.ts';
import type { StoreSettings } from '../../../src/config/recording-settings.ts';
import { createEmbed, type Embed } from '../../../src/embed/embed.ts';
import { createExportRunner, type ExportRunner } from '../../../src/exports/export-runner.ts';
import { READING_HERE } from '../../../src/leads/import-reading.ts';
import { controlCall, type SteerCall } from '../../../src/lifecycle/operator-control.ts';
import { createEmbedLimits } from '../../../src/limits/embed-limits.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import { createMonitors, type Monitors } from '../../../src/monitor/monitors.ts';
import type { NewCall, Placement } from '../../../src/placement/ports.ts';
import { createRecordingLinks } from '../../../src/recordings/recording-links.ts';
import { openRecordings, type Recordings } from '../../../src/recordings/recordings.ts';
import { createRetentionPurge } from '../../../src/retention/retention-purge.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { createApiKey, SCOPES } from '../../../src/workspaces/api-keys.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { createWorkspace, setApiEnabled, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { CHEAP_HASHING } from '../../support/cheap-hashing.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { longPromises } from '../../support/long-promises.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { holdToDocument } from './hold-to-document.ts';

export interface Tenant {
  slug: string;
  workspaceId: string;
  key: string;
  keyId: string;
  agentId: string;
  lineId: string;
}

export interface ApiFixture {
  app: FastifyInstance;
  database: Database;
  /** Stored recordings, on a disk of the fixture's own. */
  recordings: Recordings;
  clips: Clips;
  dataDir: string;
  connectionString: string;
  bus: CallEventBus;
  /** Of the server; the database has its own. */
  clock: VirtualClock;
  logLines: string[];
  acme: Tenant;
  other: Tenant;
  /** What placement was asked for, in order. */
  placements: NewCall[];
  place: (call: NewCall) => Promise<Placement>;
  admission: 'open' | 'draining' | 'no_capacity' | 'overloaded';
  compliance: ApiDeps['compliance']['check'];
  /** Calls of which whatever waits was asked to be written; `all`: of all of them. */
  written: string[];
  hungUp: string[];
  /** Requests for a call that made none: workspace and code. */
  refused: [string, string][];
  /** Webhook deliveries that were dispatched. */
  dispatched: string[];
  /** What the media process answers to control actions, and what it was asked. */
  controlOutcome: ControlOutcome | 'unanswered';
  controlled: ControlAction[];
  monitors: Monitors;
  /** What media processes were told of listeners. */
  toMedia: [string, ToMedia][];
  /** Writes what was asked for to files; asked for it works by itself. */
  exports: ExportRunner;
  /** What an examination finds. */
  examined: Awaited<ReturnType<ApiDeps['examine']>>;
  /** What tools were asked, and what they answer. */
  toolRequests: OutboundRequest[];
  toolAnswer: OutboundResult;
  /** Credentials that carriers were asked with, and what they answer. */
  accessChecks: Record<string, string>[];
  accessCheck: AccessCheck;
  /** What providers were asked, and what they answer. */
  providerRequests: OutboundRequest[];
  providerAnswer: OutboundResult;
  /** Names of the agents whose greetings were asked for. */
  prepared: string[];
  /** A good request of acme's, changed by `change`; `body` replaces the whole. */
  call(change?: object, options?: InjectOptions): Promise<LightMyRequestResponse>;
  insertCall(tenant: Tenant, change?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const PUBLIC_URL = 'http://127.0.0.1:8080';
const MASTER_KEY_HEX = 'ab'.repeat(32);
export const SEALER = createSealer(MASTER_KEY_HEX);
const SERVICE_STATE: Awaited<ReturnType<ApiDeps['serviceState']>> = {
  version: '0.1.0',
  node: '20.18.0',
  instance: 'run-1',
  nodeName: 'a',
  startedAt: new Date('2026-11-21T00:00:00Z'),
  publicUrl: PUBLIC_URL,
  admission: 'open',
  machine: {
    cores: 2,
    loadAverage: [0.5, 0.4, 0.3],
    memory: { freeBytes: 2e9, totalBytes: 8e9 },
    disk: { freeBytes: 20e9, totalBytes: 80e9 },
  },
  control: { memoryBytes: 120e6, isOverloaded: false },
  media: [
    {
      ...{ mediaId: 'media-0', connected: true, draining: false, calls: 12, capacity: 500, moreCalls: 88 },
      ...{ scarce: 'speech', socketServer: 'uws' as const },
    },
  ],
  otherNodes: [
    {
      ...{ node: 'b', mediaId: 'media-0', calls: 7, capacity: 500, moreCalls: 90, draining: false },
      ...{ silentMs: 900, isOverdue: false },
    },
  ],
  database: { version: '16.4', sizeBytes: 24e6, connections: 31, mostConnections: 100 },
  liveCalls: 12,
  waitingWebhooks: 0,
};
const CREDENTIALS = { authId: 'MA0', authToken: 'token-canary' };

/** `store`: where recordings lie; default a folder of the fixture's own. */
export async function createApiFixture(
  store: StoreSettings = { kind: 'disk', s3: null },
  { openId = null, publicUrl = PUBLIC_URL }: Partial<Pick<ApiDeps, 'openId' | 'publicUrl'>> = {},
): Promise<ApiFixture> {
  const test = await createTestDatabase();
  const database = openPatientDatabase(test.connectionString, 12);
  const slots = longPromises(createPostgresStore(database));
  // Made when a test asks for a session: it keeps a timer, which others would have to count.
  let embed: Embed | null = null;
  const openEmbed = (): Embed =>
    createEmbed({
      database,
      clock,
      log: pino({ level: 'silent' }),
      bus,
      sealer: SEALER,
      masterKeys: MASTER_KEY_HEX,
      publicUrl: PUBLIC_URL,
      limits: createEmbedLimits({ store: slots, postgres: slots, database, clock }),
      superseded() {},
      prepare: (agent) => void fixture.prepared.push(agent.name),
      isDraining: () => fixture.admission === 'draining',
      allWritten: async () => {},
      hasRoom: () => fixture.admission === 'open',
      room: { take: () => true, expects: () => false, release() {} },
    });
  const bus = createCallEventBus();
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-api-'));
  const clock = new VirtualClock(Date.now());
  const logLines: string[] = [];
  const recordings = openRecordings({
    database,
    clock,
    log: pino({ level: 'silent' }),
    sealer: SEALER,
    settings: store,
    dataDir,
    render: async (order) => void renderSound(order, loadOpusCodec(), writeSync),
  });
  const clips = createClips({
    database,
    clock,
    log: pino({ level: 'silent' }),
    sealer: SEALER,
    stores: recordings.stores,
    dataDir,
    convert: (file) =>
      convertClip(file).catch((error: Error) => {
        if (error instanceof ClipRefused) return { ok: false, problem: error.message };
        throw error;
      }),
  });
  const purge = createRetentionPurge({
    database,
    clock,
    log: pino({ level: 'silent' }),
    eraser: recordings.eraser,
  });
  const media = {
    control: async (_call: CallRow, action: ControlAction) => {
      fixture.controlled.push(action);
      return fixture.controlOutcome;
    },
  };
  const steer: SteerCall = (request) => controlCall({ database, clock, bus, media }, request);
  const monitors = createMonitors({
    database,
    clock,
    log: pino({ level: 'silent' }),
    bus,
    send: (mediaId, message) => fixture.toMedia.push([mediaId, message]) > 0,
    controlCall: steer,
  });
  const links = createRecordingLinks(MASTER_KEY_HEX, 'http://127.0.0.1:8080', clock);
  const exports = createExportRunner({
    database,
    clock,
    log: pino({ level: 'silent' }),
    shown: (...of) => exportedCalls({ database, links }, ...of),
  });
  const undescribed = new Set<string>();
  const fixture: ApiFixture = {
    database,
    recordings,
    clips,
    dataDir,
    connectionString: test.connectionString,
    bus,
    clock,
    logLines,
    acme: await createTenant(database, 'acme', '+14155550100'),
    other: await createTenant(database, 'other', '+14155550101'),
    placements: [],
    place: async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' }),
    admission: 'open',
    compliance: async () => ({ allowed: true }),
    written: [],
    hungUp: [],
    refused: [],
    dispatched: [],
    controlOutcome: { done: true },
    controlled: [],
    prepared: [],
    monitors,
    toMedia: [],
    exports,
    examined: [{ name: 'database', level: 'ok', detail: 'it answers', wayOut: null }],
    toolRequests: [],
    toolAnswer: { kind: 'failed', reason: 'no test has said what it answers' },
    accessChecks: [],
    accessCheck: { outcome: 'ok', detail: '', serverEpochMs: null },
    providerRequests: [],
    providerAnswer: { kind: 'failed', reason: 'no test has said what it answers' },
    app: createApiServer({
      database,
      clock,
      log: pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) }),
      sealer: SEALER,
      links,
      sounds: recordings.sounds,
      eraser: recordings.eraser,
      clips,
      limitStore: createMemoryLimitStore(clock),
      hashing: CHEAP_HASHING,
      openId,
      callRefusals: { note: (...noted) => void fixture.refused.push(noted) },
      disk: async () => ({ freeBytes: 1, totalBytes: 2 }),
      serviceState: async () => SERVICE_STATE,
      examine: async () => fixture.examined,
      monitors,
      cursors: createCursorCodec(MASTER_KEY_HEX),
      publicUrl,
      placeCall: (call) => {
        fixture.placements.push(call);
        return fixture.place(call);
      },
      hangUp: async (callUuid) => {
        fixture.hungUp.push(callUuid);
        return 'asked';
      },
      controlCall: steer,
      issueSession: (...asked) => {
        embed ??= openEmbed();
        return embed.issueSession(...asked);
      },
      compliance: { check: (attempt) => fixture.compliance(attempt) },
      purge: ({ workspaceId }) => purge.run({ workspaceId, mostCalls: 2 }),
      importReading: READING_HERE,
      importQueued: () => {},
      exportQueued: () => void exports.drain().catch(() => {}),
      auditSigner: createChainSigner(MASTER_KEY_HEX),
      toolHttp: {
        async send(request) {
          fixture.toolRequests.push(request);
          return fixture.toolAnswer;
        },
      },
      registry: {
        carrierFor: (name, credentials) =>
          Object.assign(openCarriers({}).carrierFor(name, credentials), {
            async checkAccess() {
              fixture.accessChecks.push(credentials);
              return fixture.accessCheck;
            },
          }),
      },
      admission: { state: () => fixture.admission },
      bus,
      unwritten: {
        hurry: () => void fixture.written.push('all'),
        allWritten: async (callUuid) => void fixture.written.push(callUuid),
      },
      checks: { database: async () => 'ok' },
      webhookAddress: { guard: createAddressGuard([]), resolveName: async () => ['93.184.216.34'] },
      modelAddress: { guard: createAddressGuard([]), resolveName: async () => ['93.184.216.34'] },
      modelHttp: {
        async send(request) {
          fixture.providerRequests.push(request);
          return fixture.providerAnswer;
        },
        close: async () => {},
      },
      webhookDispatcher: { dispatch: (ids) => void fixture.dispatched.push(...ids) },
      instance: 'run-1',
      node: 'node-1',
    }),
    call(change = {}, inject = {}) {
      const { acme } = fixture;
      return fixture.app.inject({
        method: 'POST',
        url: '/api/outbound-call',
        payload: { to: '+14155550123', agentId: acme.agentId, enterprise: 'acme', from: acme.lineId, ...change },
        ...inject,
        headers: { authorization: `Bearer ${acme.key}`, ...inject.headers },
      });
    },
    async insertCall(tenant, change = {}) {
      const row: Record<string, unknown> = {
        call_uuid: uuidv7(),
        workspace_id: tenant.workspaceId,
        agent_id: tenant.agentId,
        agent_version: 1,
        line_id: tenant.lineId,
        to_number: '+14155550123',
        from_number: '+14155550100',
        name: 'Asha',
        request_id: 'r1',
        status: 'dialing',
        carrier: 'plivo',
        ...change,
      };
      const columns = Object.keys(row);
      await database.query(
        `INSERT INTO calls (${columns.join(', ')}) VALUES (${columns.map((_name, index) => `$${index + 1}`).join(', ')})`,
        Object.values(row),
      );
      return String(row['call_uuid']);
    },
    async close() {
      await fixture.app.close();
      embed?.close();
      if (undescribed.size > 0) throw new Error(`Not as /openapi.json says:\n${[...undescribed].join('\n')}`);
      await exports.close();
      await recordings.close();
      rmSync(dataDir, { recursive: true, force: true });
      await database.close();
      await test.close();
    },
  };
  holdToDocument(fixture.app, undescribed);
  return fixture;
}

async function createTenant(database: Database, slug: string, number: string): Promise<Tenant> {
  const workspace = await createWorkspace(database, { slug, name: slug });
  await setApiEnabled(database, { slug, enabled: true });
  await setWorkspaceLimits(database, { slug, limits: { apiRequestsPerSecond: 10_000, apiBurst: 10_000 } });
  const key = await createApiKey(database, { slug, name: 'test', scopes: SCOPES });
  const agent = await importAgent(database, {
    slug,
    definition: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
  });
  const line = await addLine(database, SEALER, { slug, number, carrier: 'plivo', credentials: CREDENTIALS });
  return { slug, workspaceId: workspace.id, key: key.text, keyId: key.keyId, agentId: agent.id, lineId: line.id };
}
