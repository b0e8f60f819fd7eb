/**
 * Who is taken for dead, by whom, and what it costs: on a real database whose clock hardly moves, with the nodes'
 * own clocks virtual.
 */
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { type Clock, pause } from '../../../media/contract/clock.ts';
import type { MediaRun, NodeName } from '../../../src/nodes/media-runs.ts';
import { claimNodeName } from '../../../src/nodes/node-name.ts';
import { ALONE, createRunKeeper, IN_COMPANY, type RunKeeper, UNASKABLE } from '../../../src/nodes/run-keeper.ts';
import type { Database } from '../../../src/store/database.ts';
import type { DueLook } from '../../../src/store/due-look.ts';
import { AskedDatabase } from '../../support/asked-database.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let database: Database;
let end: () => Promise<void>;
let answering: Set<string>;
let asked: string[];
/** What a machine takes to say nothing. */
let silence: (limitMs: number, clock: Clock) => Promise<void>;
const keepers: RunKeeper[] = [];
/** As the nodes have it: their time goes on only once it has answered. */
const asking = new AskedDatabase();
const log = pino({ level: 'silent' });

/**
 * A second of this machine's is 10 ms there, for connections that are opened afterwards: how long a test takes makes
 * nobody silent, and what came later is later, since no two statements are within 100 times the smallest step.
 */
const SLOW_CLOCK = `
  CREATE SCHEMA slow;
  CREATE FUNCTION slow.from(began timestamptz) RETURNS timestamptz
    RETURN began + (pg_catalog.clock_timestamp() - began) / 100;
  DO $$ BEGIN
    EXECUTE format('CREATE FUNCTION slow.clock_timestamp() RETURNS timestamptz RETURN slow.from(%L)', now());
    EXECUTE format('ALTER DATABASE %I SET search_path = slow, pg_catalog, public', current_database());
  END $$;
  ALTER TABLE media_runs ALTER COLUMN beat_at SET DEFAULT slow.clock_timestamp();`;

beforeAll(async () => {
  const made = await createTestDatabase();
  const before = openPatientDatabase(made.connectionString);
  await before.query(SLOW_CLOCK);
  await before.close();
  database = openPatientDatabase(made.connectionString, 10);
  end = async () => {
    await database.close();
    await made.close();
  };
});
afterAll(() => end());
beforeEach(() => {
  answering = new Set();
  asked = [];
  silence = async () => {};
});
afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.close();
  await database.query('DELETE FROM media_runs');
});

const runOf = (runId: string, slot = 'media-0'): MediaRun => ({
  runId,
  slot,
  capacityCalls: 10,
  liveCalls: 3,
  moreCalls: null,
  isDraining: false,
});

/** A node's control, some time after its start: past its grace. */
function nodeCalled(
  name: string,
  change: Partial<NodeName> & { database?: Database; due?: Pick<DueLook, 'join'> } = {},
) {
  const clock = new VirtualClock(Date.now());
  const told = { fenced: [] as string[], overdue: [] as string[], orphaned: 0, changed: 0, times: [] as number[] };
  let statements = 0;
  const own = asking.over(change.database ?? database);
  const counted: Database = {
    ...own,
    query(sql, parameters) {
      statements++;
      return own.query(sql, parameters);
    },
  };
  const { due, database: _, ...named } = change;
  const keeper = createRunKeeper({
    ...(due && { due }),
    database: counted,
    clock,
    log,
    node: { name, home: `home of ${name}`, address: `http://${name}:8080`, streamBase: null, ...named },
    async answers(address, node, limitMs) {
      asked.push(`${node} at ${address}`);
      await silence(limitMs, clock);
      return answering.has(node);
    },
    fenced: (runId) => void told.fenced.push(runId),
    overdue: (runId) => void told.overdue.push(runId),
    orphaned: () => void told.orphaned++,
    changed: () => void told.changed++,
    databaseTime: (epochMs) => void told.times.push(epochMs),
  });
  keepers.push(keeper);
  clock.advanceMs(20_000);
  return { clock, keeper, told, statements: () => statements };
}

/** Time in which nothing was heard of it, by the database's clock. */
const silentFor = (runId: string, ms: number): Promise<object[]> =>
  database.query(`UPDATE media_runs SET beat_at = beat_at - $2 * interval '1 millisecond' WHERE run_id = $1`, [
    runId,
    ms,
  ]);
const isDead = async (runId: string): Promise<boolean> => {
  const [row] = await database.query<{ dead: boolean }>(
    'SELECT dead_at IS NOT NULL AS dead FROM media_runs WHERE run_id = $1',
    [runId],
  );
  return row!.dead;
};

/** B is there, and A has heard of it. */
async function twoNodes(change: Partial<NodeName> = {}) {
  const [a, b] = [nodeCalled('a'), nodeCalled('b', change)];
  await a.keeper.register(runOf('run-a'));
  await b.keeper.register(runOf('run-b'));
  // The first tells of the other, the second is that of a node in company.
  for (let round = 0; round < 2; round++) {
    await a.keeper.beat();
    await b.keeper.beat();
  }
  return { a, b };
}

/** Time in which its beats are answered. */
async function pass(node: ReturnType<typeof nodeCalled>, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    node.clock.advanceMs(1_000);
    await node.keeper.beat();
  }
}

/** Time in which what it has begun goes on. */
async function passing(node: ReturnType<typeof nodeCalled>, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 100) {
    node.clock.advanceMs(100);
    await asking.answered();
  }
}

/** The next beat of `node`, and what comes of it. */
async function judged(node: ReturnType<typeof nodeCalled>, runId: string): Promise<boolean> {
  await node.keeper.beat();
  for (let look = 0; look < 40; look++) {
    node.clock.advanceMs(100);
    await asking.answered();
    if (await isDead(runId)) return true;
  }
  return false;
}

describe('what it costs', () => {
  test('alone: a statement each 30 s, whatever there is to carry, and a lease of 90 s', async () => {
    const { clock, keeper, statements } = nodeCalled('a');
    for (let slot = 0; slot < 4; slot++) await keeper.register(runOf(`run-${slot}`, `media-${slot}`));
    clock.advanceMs(1_000);
    await keeper.beat();
    const before = statements();
    for (let second = 0; second < 60; second++) {
      clock.advanceMs(1_000);
      await asking.answered();
      for (let slot = 0; slot < 4; slot++) keeper.said({ ...runOf(`run-${slot}`, `media-${slot}`), liveCalls: 250 });
    }
    expect(statements() - before).toBeLessThanOrEqual(60_000 / ALONE.everyMs);
    await asking.answered();
    const rows = await database.query('SELECT DISTINCT lease_ms, live_calls FROM media_runs');
    expect(rows).toEqual([{ lease_ms: ALONE.leaseMs, live_calls: 250 }]);
  });

  test('in company: that one drains is told when its row says so, also where a beat was under way', async () => {
    const { a, b } = await twoNodes();
    const underWay = b.keeper.beat();
    b.keeper.drain();
    await underWay;
    await eventually('the word', () => b.told.changed === 1);
    await a.keeper.beat();
    expect(a.keeper.others()).toMatchObject([{ node: 'b', isDraining: true }]);
  });

  test('in company: a lease of 8 s where one can ask the machine, of 30 s where nobody can', async () => {
    const { a } = await twoNodes({ address: null });
    const rows = await database.query('SELECT node, lease_ms FROM media_runs ORDER BY node');
    expect(rows).toEqual([
      { node: 'a', lease_ms: IN_COMPANY.leaseMs },
      { node: 'b', lease_ms: UNASKABLE.leaseMs },
    ]);
    expect(a.keeper.others()).toMatchObject([{ runId: 'run-b', node: 'b', liveCalls: 3, capacityCalls: 10 }]);
  });
});

test('a node that is alone finds a second one by the look that all parts share, and beats at once', async () => {
  let found: (value: unknown) => void = () => {};
  const look: Pick<DueLook, 'join'> = {
    join(question) {
      found = question.found;
      return () => {};
    },
  };
  const a = nodeCalled('a', { due: look });
  const b = nodeCalled('b');
  await a.keeper.register(runOf('run-a'));
  await a.keeper.beat();
  await b.keeper.register(runOf('run-b'));
  found(true);
  a.clock.advanceMs(0);
  await eventually('the company', () => a.keeper.others().length === 1);
});

describe('who is dead', () => {
  test('one that is silent and whose machine does not answer, asked twice; told once, and never alive again', async () => {
    const { a, b } = await twoNodes();
    await silentFor('run-b', 31_000);
    expect(await judged(a, 'run-b')).toBe(true);
    expect(asked).toEqual(['b at http://b:8080', 'b at http://b:8080']);
    // It was only cut off, and comes back.
    await b.keeper.beat();
    expect(b.told.fenced).toEqual(['run-b']);
    await b.keeper.beat();
    expect(b.told.fenced).toEqual(['run-b']);
    expect(await b.keeper.register(runOf('run-b'))).toBe(false);
    expect(await b.keeper.register(runOf('run-b2'))).toBe(true);
  });

  /** Half of its lease is over, and its machine has not answered twice. */
  async function askedInVain(a: ReturnType<typeof nodeCalled>): Promise<void> {
    asked = [];
    await silentFor('run-b', IN_COMPANY.leaseMs - 4_000);
    await a.keeper.beat();
    await eventually('the questions', () => asked.length === 2, { between: () => passing(a, 100) });
    expect(await isDead('run-b')).toBe(false);
  }

  test('the moment its lease is over, not before: its machine was asked meanwhile; one that beats in that time lives', async () => {
    const { a, b } = await twoNodes();
    await askedInVain(a);
    await b.keeper.beat();
    await passing(a, 5_000);
    expect(await isDead('run-b')).toBe(false);

    await askedInVain(a);
    await silentFor('run-b', 4_000);
    await eventually('its end', () => isDead('run-b'), { between: () => passing(a, 100) });
    expect(a.told.overdue).toEqual([]);
  });

  test('and no later where the last question to its machine is still out', async () => {
    const { a } = await twoNodes();
    asked = [];
    await silentFor('run-b', IN_COMPANY.leaseMs - 4_000);
    const leaseOverAtMs = a.clock.nowMs() + 4_000;
    const lastAtMs: number[] = [];
    // The second is answered at once: nothing is there.
    silence = async (limitMs, clock) => {
      lastAtMs.push(clock.nowMs() + limitMs);
      if (asked.length !== 2) await pause(clock, limitMs);
    };
    await a.keeper.beat();
    await eventually('three questions', () => asked.length === 3, { between: () => passing(a, 100) });
    expect(lastAtMs[2]! - leaseOverAtMs).toBeLessThanOrEqual(100);
    await silentFor('run-b', 4_000);
    await eventually('its end', () => isDead('run-b'), { between: () => passing(a, 100) });
  });

  test('not one whose machine answers again before its lease is over, although nothing of it has reached the database yet', async () => {
    const { a } = await twoNodes();
    await askedInVain(a);
    await passing(a, 1_000);
    answering.add('b');
    await silentFor('run-b', 4_000);
    await passing(a, 4_000);
    expect(await isDead('run-b')).toBe(false);
    await a.keeper.beat();
    await passing(a, 1_000);
    expect([await isDead('run-b'), a.told.overdue]).toEqual([false, []]);
  });

  test('not one whose machine answers: suspect, and after 120 s its calls are taken from it; heard of again it is as before', async () => {
    const { a, b } = await twoNodes();
    answering.add('b');
    await silentFor('run-b', 60_000);
    expect(await judged(a, 'run-b')).toBe(false);
    await pass(a, 115);
    expect(a.told.overdue).toEqual([]);
    await pass(a, 6);
    expect(await judged(a, 'run-b')).toBe(false);
    expect(a.told.overdue).toEqual(['run-b']);
    await b.keeper.beat();
    expect(b.told.fenced).toEqual([]);
  });

  test('by the word of who was faster; who was slower looks after the calls too', async () => {
    const { a } = await twoNodes();
    const c = nodeCalled('c');
    await c.keeper.register(runOf('run-c'));
    await silentFor('run-b', 31_000);
    // Both ask; while C waits for its answer, A is done.
    let answerC = (): void => {};
    const held = new Promise<void>((resolve) => {
      answerC = resolve;
    });
    silence = (_, clock) => (clock === c.clock ? held : Promise.resolve());
    await c.keeper.beat();
    expect(await judged(a, 'run-b')).toBe(true);
    answerC();
    await eventually('its look at the calls', () => c.told.orphaned === 1, { between: () => passing(c, 100) });
    expect(a.told.orphaned).toBe(0);
  });

  test('nobody, by who cannot beat itself, nor for 10 s after: those that were cut off with it come back first', async () => {
    let away = false;
    const flaky: Database = {
      ...database,
      query: (sql, parameters) =>
        away ? Promise.reject(new Error('connection terminated')) : database.query(sql, parameters),
    };
    const a = nodeCalled('a', { database: flaky });
    const b = nodeCalled('b');
    await a.keeper.register(runOf('run-a'));
    await b.keeper.register(runOf('run-b'));
    away = true;
    await silentFor('run-b', 120_000);
    await a.keeper.beat();
    away = false;
    await a.keeper.beat();
    await pass(a, 9);
    expect(asked).toEqual([]);
    await pass(a, 2);
    expect(await judged(a, 'run-b')).toBe(true);
  });

  test('nobody because the clocks of two nodes are 30 s apart', async () => {
    const { a, b } = await twoNodes();
    a.clock.setEpochMs(a.clock.epochMs() + 30_000);
    for (let beat = 0; beat < 3; beat++) {
      await a.keeper.beat();
      await b.keeper.beat();
    }
    expect(asked).toEqual([]);
    expect(await isDead('run-b')).toBe(false);
    const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    expect(row!.now.getTime() - a.told.times.at(-1)!).toBeLessThan(25_000);
    expect(row!.now.getTime() - a.told.times.at(-1)!).toBeGreaterThanOrEqual(-1);
  });

  test('at once, one whose process is gone by its own control’s word; while the database is away it waits', async () => {
    let away = false;
    const flaky: Database = {
      ...database,
      transaction: (work) => (away ? Promise.reject(new Error('terminated')) : database.transaction(work)),
    };
    const { keeper } = (() => {
      const clock = new VirtualClock(Date.now());
      const made = createRunKeeper({
        database: flaky,
        clock,
        log,
        node: { name: 'a', home: 'd', address: null, streamBase: null },
        answers: async () => true,
        fenced: () => {},
        overdue: () => {},
        orphaned: () => {},
      });
      keepers.push(made);
      return { keeper: made };
    })();
    await keeper.register(runOf('run-1'));
    await keeper.register(runOf('run-2', 'media-1'));
    away = true;
    keeper.gone('run-1');
    await keeper.beat();
    expect(await isDead('run-1')).toBe(false);
    away = false;
    await keeper.beat();
    expect([await isDead('run-1'), await isDead('run-2')]).toEqual([true, false]);
  });

  test('what an earlier control of the node left in the same place, and nobody else’s', async () => {
    const { a, b } = await twoNodes();
    const again = nodeCalled('a');
    await again.keeper.register(runOf('run-a2'));
    expect([await isDead('run-a'), await isDead('run-b')]).toEqual([true, false]);
    await again.keeper.register(runOf('run-a3', 'media-1'));
    expect(await isDead('run-a2')).toBe(false);
    await a.keeper.beat();
    expect(a.told.fenced).toEqual(['run-a']);
    expect(b.told.fenced).toEqual([]);
  });
});

describe('which node has a run', () => {
  test('is known from beats; of one that missed them the database says whether it was given up since', async () => {
    const { a, b } = await twoNodes();
    answering.add('b');
    const asks = a.statements();
    expect(await a.keeper.nodeOf('run-b')).toBe('b');
    expect(a.statements()).toBe(asks);
    await silentFor('run-b', 5_000);
    await a.keeper.beat();
    expect(await a.keeper.nodeOf('run-b')).toBe('b');
    // The beat's, and this one's.
    expect(a.statements()).toBe(asks + 2);
    // By a third one, which told nobody yet.
    await database.query(`UPDATE media_runs SET dead_at = clock_timestamp() WHERE run_id = 'run-b'`);
    expect(await a.keeper.nodeOf('run-b')).toBeNull();
    expect(await a.keeper.nodeOf('run-a')).toBeNull();
    expect(b.told.fenced).toEqual([]);
  });
});

describe('a node’s name', () => {
  const copy = { name: 'a', home: 'another machine', address: null, streamBase: null };

  /** As it goes while `between` happens each half second; null: it may have the name. */
  async function refusal(node: NodeName, between = async () => {}, storesAlone = false): Promise<string | null> {
    const clock = new VirtualClock();
    const ended: (string | null)[] = [];
    claimNodeName({ database: asking.over(database), clock, log }, node, { storesAlone }).then(
      () => ended.push(null),
      (error: Error) => ended.push(error.message),
    );
    await eventually('the word', () => ended.length > 0, {
      async between() {
        await between();
        // What it asked may be answered by a beat that is on its way.
        await asking.answered();
        clock.advanceMs(500);
        await asking.answered();
      },
    });
    return ended[0]!;
  }

  test('is refused at once to a second node, a copied data folder too, while the first lives; the error says what to set', async () => {
    const { a } = await twoNodes();
    const fault = await refusal(copy, () => a.keeper.beat());
    expect(fault).toContain('PARLEY_NODE');
    expect(fault).toContain('home of a');
    expect(await isDead('run-a')).toBe(false);
  });

  test('a node that keeps recordings on its own disk is refused beside any other that lives, and not after one that is gone', async () => {
    const { a, b } = await twoNodes();
    const beat = (): Promise<void> => a.keeper.beat();
    const third = { name: 'c', home: 'home of c', address: null, streamBase: null };
    const fault = await refusal(third, beat, true);
    expect(fault).toContain('RECORDING_STORE=s3');
    expect(fault).toContain('home of a');
    expect(await refusal(third, beat)).toBeNull();
    a.keeper.gone('run-a');
    b.keeper.gone('run-b');
    await eventually('both to be gone', async () => (await isDead('run-a')) && (await isDead('run-b')));
    expect(await refusal(third, undefined, true)).toBeNull();
  });

  test('a node that was there first and keeps recordings on its own disk gets its calls back when its control starts anew', async () => {
    const { a, b } = await twoNodes();
    const self = { name: 'a', home: 'home of a', address: null, streamBase: null };
    expect(await refusal(self, () => b.keeper.beat(), true)).toBeNull();
    expect(await isDead('run-a')).toBe(false);
    a.keeper.gone('run-a');
    await eventually('its processes to be gone', () => isDead('run-a'));
    expect(await refusal(self, () => b.keeper.beat(), true)).toContain('RECORDING_STORE=s3');
  });

  test('a node that is alone and beats each half minute sees that it is asked by the look that all parts share', async () => {
    let sql = '';
    let found: (value: unknown) => void = () => {};
    const look: Pick<DueLook, 'join'> = {
      join(question) {
        sql = question.sql(() => '$1');
        found = question.found;
        return () => {};
      },
    };
    const a = nodeCalled('a', { due: look });
    await a.keeper.register(runOf('run-a'));
    await a.keeper.beat();
    const isAsked = async (): Promise<unknown> =>
      (await database.query<{ asked: boolean }>(`SELECT ${sql} AS asked`, ['a']))[0]!.asked;
    expect(await isAsked()).toBe(false);
    const fault = await refusal(copy, async () => {
      found(await isAsked());
      a.clock.advanceMs(0);
    });
    expect(fault).toContain('PARLEY_NODE');
    expect(await isAsked(), 'answered').toBe(false);
  });

  test('is given at once where its former self has been silent for longer than its lease: it would not answer either', async () => {
    await twoNodes();
    await silentFor('run-a', IN_COMPANY.leaseMs + 1_000);
    expect(await refusal(copy)).toBeNull();
    const [row] = await database.query<{ asked: boolean }>(
      `SELECT asked_at IS NOT NULL AS asked FROM media_runs WHERE run_id = 'run-a'`,
    );
    expect(row).toEqual({ asked: false });
  });

  test('is given to one that came back on another machine once its former self did not answer, whose calls it takes over; and to itself', async () => {
    await twoNodes();
    expect(await refusal({ ...copy, home: 'home of a' })).toBeNull();
    expect(await refusal(copy)).toBeNull();
    const again = nodeCalled('a', { home: copy.home });
    await again.keeper.register(runOf('run-a2'));
    expect([await isDead('run-a'), await isDead('run-a2'), await isDead('run-b')]).toEqual([true, false, false]);
  });
});
