/** A migrated database with one workspace and endpoint, a virtual clock, and a receiver that the test scripts. */
import { pino } from 'pino';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import type { OutboundHttp, OutboundRequest, OutboundResult } from '../../../media/net/outbound-http.ts';
import type { CallRecord } from '../../../src/calls/call-record.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { type AttemptResult, createDelivery } from '../../../src/webhooks/delivery.ts';
import { createDeliveryStore, type DeliveryStore, type DueDelivery } from '../../../src/webhooks/delivery-store.ts';
import { setEndpoint } from '../../../src/webhooks/endpoint.ts';
import type { CallEventName } from '../../../src/webhooks/events.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { insertCall, insertWorkspace, sampleCall, WORKSPACE_ID } from './sample-call.ts';

export type Script = (request: OutboundRequest) => OutboundResult | Promise<OutboundResult>;

export interface DeliveryRow {
  state: string;
  attempts: number;
  next_at: Date;
  claimed_until: Date | null;
  last_status: number | null;
  last_error: string | null;
  delivered_at: Date | null;
}

export interface DeliveryBench {
  db: Database;
  store: DeliveryStore;
  clock: VirtualClock;
  secret: string;
  sent: OutboundRequest[];
  retries: { id: string; afterMs: number }[];
  next: DueDelivery[];
  /** What the receiver does from now on. */
  answer(script: Script): void;
  /** In place of the scripted receiver. */
  useHttp(http: OutboundHttp): void;
  /** Of the sample call, or of another that is in the database. */
  record(event: CallEventName, call?: CallRecord): Promise<string>;
  attempt(id: string): Promise<AttemptResult>;
  row(id: string): Promise<DeliveryRow>;
  /** Empty tables, a fresh endpoint at `url`, an empty script. */
  reset(url?: string): Promise<void>;
  close(): Promise<void>;
}

export const answered = (status: number, extra: { retryAfter?: string; body?: string } = {}): OutboundResult => ({
  kind: 'answered',
  status,
  retryAfter: extra.retryAfter ?? null,
  body: extra.body ?? '',
  responseMs: 1,
});

const TABLES = ['webhook_deliveries', 'webhook_events', 'webhook_endpoints', 'calls'];
const sealer = createSealer('ab'.repeat(32));

export async function createDeliveryBench(random: () => number = () => 0.5): Promise<DeliveryBench> {
  const server = await createTestDatabase();
  const db = openPatientDatabase(server.connectionString, 8);
  await insertWorkspace(db);
  const clock = new VirtualClock();
  const store = createDeliveryStore(db, sealer);
  const logger = pino({ level: 'silent' });
  let script: Script = () => answered(200);
  let http: OutboundHttp | null = null;
  const bench: DeliveryBench = {
    db,
    store,
    clock,
    secret: '',
    sent: [],
    retries: [],
    next: [],
    answer(given) {
      script = given;
    },
    useHttp(given) {
      http = given;
    },
    async record(event, call = sampleCall()) {
      const ids = await db.transaction((tx) => recordCallEvent(tx, call, event, {}, clock));
      return ids[0]!;
    },
    attempt: createDelivery({
      store,
      clock,
      random,
      logger,
      http: {
        async send(request) {
          bench.sent.push(request);
          return await (http === null ? script(request) : http.send(request));
        },
        close: async () => {},
      },
      onRetry: (delivery, afterMs) => bench.retries.push({ id: delivery.id, afterMs }),
      onNext: (delivery) => bench.next.push({ id: delivery.id, endpointId: delivery.endpointId }),
    }),
    async row(id) {
      const rows = await db.query<DeliveryRow>('SELECT * FROM webhook_deliveries WHERE id = $1', [id]);
      return rows[0]!;
    },
    async reset(url = 'https://example.com/hooks') {
      for (const table of TABLES) await db.query(`DELETE FROM ${table}`);
      await insertCall(db, sampleCall());
      bench.secret = (await setEndpoint(db, sealer, WORKSPACE_ID, url)).secret ?? '';
      bench.sent.length = 0;
      bench.retries.length = 0;
      bench.next.length = 0;
      script = () => answered(200);
      http = null;
    },
    async close() {
      await db.close();
      await server.close();
    },
  };
  return bench;
}
