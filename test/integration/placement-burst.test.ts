/**
 * The small form of `npm run bench -- api --burst 2000`: more placements at once than a node takes from one workspace
 * at its door, and what it may not do with them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { burstFaults } from '../../bench/api/burst-verdict.ts';
import { offerTo } from '../../bench/api/offer.ts';
import { startGateway } from '../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';

const REQUESTS = 300;
/** What the door lets one workspace have open at once, so that some are refused however fast the machine is. */
const OPEN_REQUESTS = 20;
const numberOf = (index: number): string => `+1415555${String(index).padStart(4, '0')}`;

test('of 300 placements at once each is answered, a refusal says when to come again, and exactly those of a 200 are dialled', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-burst-'));
  const stored = await createTestDatabase();
  const gateway = await startGateway({
    dataDir,
    agent: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
    personas: [{ kind: 'silent', name: 'asleep', number: '+1415*', dialMs: 600_000 }],
    concurrentCalls: 10_000,
    callsPerSecond: 10_000,
    settings: {
      ...settingsOn(stored),
      PARLEY_KEY_REQUESTS: String(OPEN_REQUESTS),
      PARLEY_ADDRESS_REQUESTS: String(OPEN_REQUESTS),
    },
    keepAudio: false,
    log: () => {},
  });
  const database = openPatientDatabase(stored.connectionString);
  try {
    const { agentId, apiKey, enterprise, lineId: from, service } = gateway;
    const answers = await offerTo([{ baseUrl: service.publicUrl, apiKey }], {
      perSecond: REQUESTS * 100,
      seconds: 1 / 100,
      connections: REQUESTS,
      body: (index) => ({ to: numberOf(index), agentId, enterprise, from }),
    });
    const calls = await gateway.emulator.calls();
    const rows = await database.query<{ callUuid: string }>('SELECT call_uuid AS "callUuid" FROM calls');
    const faults = burstFaults({
      requests: answers.map((answer, index) => ({ to: numberOf(index), answer })),
      dialled: calls.map(({ to }) => `+${to.replace(/^\+/, '')}`),
      stored: new Set(rows.map(({ callUuid }) => callUuid)),
    });
    expect(faults).toEqual([]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200).length).toBeGreaterThan(0);
  } finally {
    await database.close();
    await gateway.stop();
    await stored.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
