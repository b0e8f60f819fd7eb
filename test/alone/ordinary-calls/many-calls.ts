/**
 * A hundred calls, a tenth each busy, unanswered, declined and refused by the carrier: each `callUuid` ends once, and
 * says so once. Counted in the database and at the receiver, which do not know of each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import { briefAgent } from '../../../bench/harness/brief-agent.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import type { Database } from '../../../src/store/database.ts';

const OUTCOMES = {
  busy: { persona: { outcome: 'busy' }, terminal: 'no_answer/busy' },
  unanswered: { persona: { outcome: 'no_answer' }, terminal: 'no_answer/no_answer' },
  declined: { persona: { outcome: 'declined' }, terminal: 'no_answer/declined' },
  refused: {
    persona: { faults: { placement: { kind: 'status', httpStatus: 400, error: 'to parameter is barred' } } },
    terminal: 'failed/carrier_rejected',
  },
  answered: { persona: {}, terminal: 'completed/agent_hangup' },
} as const;
type Outcome = keyof typeof OUTCOMES;

const plan: Outcome[] = Array.from({ length: 100 }, (_, i) => {
  const outcomes: Outcome[] = ['busy', 'unanswered', 'declined', 'refused'];
  return outcomes[i % 10] ?? 'answered';
});
const numberOf = (index: number): string => `+1415555${String(1000 + index)}`;
export const crowd: PersonaInput[] = plan.map((outcome, index) => ({
  kind: 'silent',
  name: `${outcome} ${index}`,
  number: numberOf(index),
  ringMs: 200,
  ...(OUTCOMES[outcome].persona as object),
}));
const AT_ONCE = 20;

/** `stage`: the gateway; there once `beforeAll` is through. */
export function testManyCalls(stage: () => Gateway): void {
  let gateway: Gateway;
  let database: Database;

  beforeAll(() => {
    gateway = stage();
    database = openPatientDatabase(gateway.service.databaseUrl);
  });

  afterAll(() => database.close());

  test('100 calls: exactly one terminal state and one terminal event each, as the carrier had it', async () => {
    // Sixty of the calls talk, twenty at a time.
    const definition = briefAgent('This is a short call. Goodbye.');
    const { id: agentId } = await importAgent(database, { slug: gateway.enterprise, definition });
    const ended = new Map<string, string>();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < plan.length; index = next++) {
        const outcome = OUTCOMES[plan[index]!];
        const placed = await gateway.client.place({
          to: numberOf(index),
          agentId,
          enterprise: gateway.enterprise,
          from: gateway.lineId,
        });
        const callUuid = placed.body.callUuid ?? placed.headers.get('x-call-uuid');
        expect(callUuid, `answer ${placed.httpStatus} ${placed.body.message} for ${plan[index]}`).toBeTruthy();
        expect(placed.httpStatus).toBe(plan[index] === 'refused' ? 502 : 200);
        const entry = await gateway.client.waitFor(callUuid!, 'its end', ({ endedAt }) => endedAt !== null);
        expect(`${entry.status}/${entry.endedReason}`).toBe(outcome.terminal);
        ended.set(callUuid!, entry.status);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(ended.size).toBe(100);

    const events = await database.query<{ call_uuid: string; event: string }>(
      `SELECT e.call_uuid, e.event FROM webhook_events e JOIN calls c ON c.call_uuid = e.call_uuid
      WHERE e.event IN ('call.completed', 'call.no_answer', 'call.failed') AND c.agent_id = $1`,
      [agentId],
    );
    expect(events).toHaveLength(100);
    expect(new Set(events.map((row) => row.call_uuid)).size).toBe(100);
    for (const row of events) expect(row.event).toBe(`call.${ended.get(row.call_uuid)}`);

    for (const [callUuid, status] of ended) {
      const webhook = await gateway.receiver.waitFor((received) => received.callUuid === callUuid);
      expect(webhook).toMatchObject({ verified: true, event: `call.${status}` });
    }
    // One that is answered too late comes again, with its id.
    const completed = gateway.receiver
      .received()
      .filter(({ event, callUuid }) => event === 'call.completed' && ended.has(callUuid));
    expect(new Set(completed.map(({ id }) => id)).size).toBe(60);
  });
}
