/** The life of calls on a real database, with a scripted carrier, a virtual clock and media that only takes notes. */

import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { loadOpusCodec } from '../../../media/audio/opus-codec.ts';
import type { ReplyStages } from '../../../media/contract/conversation.ts';
import type { ToMedia } from '../../../media/contract/link-messages.ts';
import { joinSound } from '../../../media/recorder/join-sound.ts';
import { type CallEvent, createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import { type CallRow, readOwnCall } from '../../../src/calls/call-row.ts';
import { createCarrierRegistry } from '../../../src/carriers/registry.ts';
import { createDialledCalls, type DialledCalls } from '../../../src/lifecycle/dialled-calls.ts';
import { createLeadFollower } from '../../../src/lifecycle/lead-follower.ts';
import { createLineCarriers, type LineCarriers } from '../../../src/lifecycle/line-carriers.ts';
import { createReaper, type Reaper } from '../../../src/lifecycle/reaper.ts';
import { createSideEffects, type SideEffects } from '../../../src/lifecycle/side-effects.ts';
import { createStreamTokens, type StreamTokens } from '../../../src/lifecycle/stream-token.ts';
import { createTransitions, type Transitions } from '../../../src/lifecycle/transition.ts';
import { createCallLimits } from '../../../src/limits/call-limits.ts';
import { createFairQueue } from '../../../src/limits/fair-queue.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import { createMediaMessages } from '../../../src/media-link/media-messages.ts';
import { createMediaPool, type MediaMember, type MediaPool } from '../../../src/media-link/media-pool.ts';
import { createDialClearance } from '../../../src/placement/dial-clearance.ts';
import type { PlacementDeps } from '../../../src/placement/placement.ts';
import type { NewCall } from '../../../src/placement/ports.ts';
import { createJoiner, type Joiner } from '../../../src/recordings/joiner.ts';
import { createRecordingLinks } from '../../../src/recordings/recording-links.ts';
import { createRecordingUploader, type RecordingUploader } from '../../../src/recordings/recording-uploader.ts';
import { openRecordings, type Recordings } from '../../../src/recordings/recordings.ts';
import { createSealer, type Sealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { eventually } from '../../support/eventually.ts';
import { inTheirOrder, type MessagesInOrder } from '../../support/in-their-order.ts';
import { longPromises } from '../../support/long-promises.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { createScriptedCarrier, type ScriptedCarrier } from './scripted-carrier.ts';

export const PUBLIC_URL = 'http://voice.example.com';
export const MASTER_KEY = 'ab'.repeat(32);

export interface Harness {
  database: Database;
  publicUrl: string;
  connectionString: string;
  clock: VirtualClock;
  carrier: ScriptedCarrier;
  registry: ReturnType<typeof createCarrierRegistry>;
  transitions: Transitions;
  lineCarriers: LineCarriers;
  dialledCalls: DialledCalls;
  effects: SideEffects;
  reaper: Reaper;
  /** Of what media said; everything is written, unless a test says otherwise. */
  unwritten: { allWritten(callUuid: string): Promise<void> };
  pool: MediaPool;
  messages: MessagesInOrder;
  streamTokens: StreamTokens;
  placement: PlacementDeps;
  sealer: Sealer;
  /** Stored recordings, on a disk of the harness's own. */
  recordings: Recordings;
  uploader: RecordingUploader;
  joiner: Joiner;
  dataDir: string;
  /** For what removes parts of calls. */
  deletion: { database: Database; clock: VirtualClock; eraser: Recordings['eraser'] };
  /** Commands that the one media process `media-1` got. */
  toMedia: ToMedia[];
  member: MediaMember;
  published: CallEvent[];
  dispatched: string[];
  /** Calls whose end was told. */
  ended: CallRow[];
  /** Steps of replies, as the metrics are told them. */
  replied: ReplyStages[];
  logged: { level: number; msg: string; callUuid?: string }[];
  newCall(changes?: Partial<NewCall>): NewCall;
  call(callUuid: string): Promise<CallRow>;
  /** Event names of the outbox, in order. */
  webhooks(callUuid: string): Promise<string[]>;
  log(callUuid: string): Promise<{ kind: string; data: Record<string, unknown> }[]>;
  /** What `read` gives, once it is something; effects run beside the test. */
  until: typeof eventually;
  close(): Promise<void>;
}

export async function createHarness(): Promise<Harness> {
  const { connectionString, close } = await createTestDatabase();
  const database = openPatientDatabase(connectionString, 10);
  const clock = new VirtualClock(Date.now());
  const logged: Harness['logged'] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });

  const workspaceId = uuidv7();
  const agentId = uuidv7();
  const lineId = uuidv7();
  const definition = sampleAgent({ defaults: { clinic: 'Smile Dental' } });
  await database.query(
    `INSERT INTO workspaces (id, slug, name, api_enabled, max_concurrent_calls, max_calls_per_second)
     VALUES ($1, 'acme', 'Acme', true, 100000, 100000)`,
    [workspaceId],
  );
  await database.query(`INSERT INTO agents VALUES ($1, $2, 'Agent', 'outbound', 1)`, [agentId, workspaceId]);
  await database.query('INSERT INTO agent_versions VALUES ($1, 1, $2)', [agentId, JSON.stringify(definition)]);
  await database.query(
    `INSERT INTO phone_lines (id, workspace_id, number, carrier, credentials_sealed, max_concurrent_calls, max_calls_per_second)
     VALUES ($1, $2, '+14155550100', 'plivo', $3, 100000, 100000)`,
    [lineId, workspaceId, Buffer.from('{"authId":"a","authToken":"b"}')],
  );
  await database.query('INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES ($1, $2, $3, $4)', [
    uuidv7(),
    workspaceId,
    'https://hooks.example.com/',
    Buffer.from('sealed'),
  ]);

  await database.query(
    `INSERT INTO media_runs (run_id, node, home, slot, lease_ms, capacity_calls)
     SELECT 'media-' || i, 'node-1', 'disk-1', 'media-' || i, 30000, 100 FROM generate_series(0, 19) AS i`,
  );
  const carrier = createScriptedCarrier();
  const registry = createCarrierRegistry({ factories: { plivo: () => carrier }, apiBases: {} });
  const lineCarriers = createLineCarriers({ database, registry, clock, open: (sealed) => sealed.toString() });
  const dialledCalls = createDialledCalls(database);
  const pool = createMediaPool({ database, clock, log });
  const toMedia: ToMedia[] = [];
  const member: MediaMember = {
    runId: 'media-1',
    mediaId: 'media-1',
    connected: true,
    activeCalls: 0,
    capacityCalls: 100,
    draining: false,
    room: null,
    socketServer: 'ws',
    send(message) {
      toMedia.push(message);
      return true;
    },
  };
  pool.join(member);
  const unwritten: Harness['unwritten'] = { allWritten: async () => {} };
  const effects = createSideEffects({ lineCarriers, media: pool, clock, log });
  const published: CallEvent[] = [];
  const bus = createCallEventBus();
  const dispatched: string[] = [];
  const ended: CallRow[] = [];
  const replied: ReplyStages[] = [];
  const webhookDispatcher = { dispatch: (ids: readonly string[]): void => void dispatched.push(...ids) };
  const sealer = createSealer(MASTER_KEY);
  const links = createRecordingLinks(MASTER_KEY, PUBLIC_URL, clock);
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-calls-'));
  const shared = { database, clock, log, publicUrl: PUBLIC_URL, sealer, links };
  const recordings = openRecordings({
    ...shared,
    settings: { kind: 'disk', s3: null },
    dataDir,
    render: () => Promise.reject(new Error('nothing is converted here')),
  });
  const { eraser } = recordings;
  const transitions = createTransitions({
    ...shared,
    bus: {
      publish(event) {
        published.push(event);
        bus.publish(event);
      },
    },
    webhookDispatcher,
    follow: createLeadFollower({ clock }),
    perform: effects.perform,
    ended: (call) => void ended.push(call),
    deadlineMoved: () => {},
  });
  const uploader = createRecordingUploader({
    ...shared,
    store: recordings.stores.current,
    node: 'node-1',
    bus,
    webhookDispatcher,
  });
  const joiner = createJoiner({
    ...shared,
    stores: recordings.stores,
    join: (order) => joinSound(order, loadOpusCodec(), writeSync),
    node: 'node-1',
    dataDir,
    bus,
    webhookDispatcher,
    joined: () => {},
  });
  const limits = longPromises(createPostgresStore(database));
  const turns = (slots: number) =>
    createFairQueue({ clock, slots, slotsPerKey: slots, mostWaiting: 100, longestWaitMs: 2_000 });
  const reaper = createReaper({
    ...shared,
    transitions,
    lineCarriers,
    effects,
    allWritten: (callUuid) => unwritten.allWritten(callUuid),
  });

  return {
    database,
    publicUrl: PUBLIC_URL,
    connectionString,
    clock,
    carrier,
    registry,
    transitions,
    lineCarriers,
    dialledCalls,
    effects,
    reaper,
    unwritten,
    pool,
    messages: inTheirOrder(
      createMediaMessages({
        ...shared,
        bus,
        webhookDispatcher,
        transitions,
        recordings: { node: 'node-1', nudge() {}, offer: () => null },
        tools: { claim: async () => () => {} },
        replied: (stages) => void replied.push(stages),
      }),
    ),
    replied,
    sealer,
    recordings,
    uploader,
    joiner,
    dataDir,
    deletion: { database, clock, eraser },
    streamTokens: createStreamTokens(MASTER_KEY),
    placement: {
      ...shared,
      clearance: createDialClearance({ database, clock, masterKeys: MASTER_KEY }),
      transitions,
      registry,
      dialledCalls,
      lineCarriers,
      admission: { state: () => 'open' },
      room: { take: () => true, release: () => {} },
      callLimits: createCallLimits({ store: limits, postgres: limits, database, clock, settingsKeptMs: 0 }),
      carrierTurns: turns(64),
      databaseTurns: turns(4),
      webhookDispatcher,
    },
    toMedia,
    member,
    published,
    dispatched,
    ended,
    logged,
    newCall: (changes = {}) => ({
      workspaceId,
      enterprise: 'acme',
      agent: { id: agentId, version: 1, definition },
      line: { id: lineId, number: '+14155550100', carrier: 'plivo', credentials: { authId: 'a', authToken: 'b' } },
      to: '+14155550123',
      name: 'Asha',
      metadata: { plan: 'gold', clinic: 'North', 'secret.key': 'hush' },
      lead: null,
      guardDuplicates: true,
      idempotencyKey: null,
      idempotencyPath: 'POST /api/outbound-call',
      requestId: 'req-1',
      lateAcceptance: 'cancel',
      ...changes,
    }),
    async call(callUuid) {
      const call = await readOwnCall(database, callUuid);
      if (call === undefined) throw new Error(`There is no call ${callUuid}.`);
      return call;
    },
    async webhooks(callUuid) {
      const rows = await database.query<{ event: string }>(
        'SELECT event FROM webhook_events WHERE call_uuid = $1 ORDER BY sequence',
        [callUuid],
      );
      return rows.map((row) => row.event);
    },
    log: (callUuid) =>
      database.query('SELECT kind, data FROM call_events WHERE call_uuid = $1 ORDER BY id', [callUuid]),
    until: (what, read) => eventually(what, read, { between: () => new Promise((resolve) => setImmediate(resolve)) }),
    async close() {
      await reaper.close();
      await uploader.close();
      await recordings.close();
      rmSync(dataDir, { recursive: true, force: true });
      await database.close();
      await close();
    },
  };
}
