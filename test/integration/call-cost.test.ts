/** What a service with nothing to do, and a scripted call of a single line, cost the database: counted, not timed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PersonaInput } from '../../bench/emulators/persona.ts';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { eventually } from '../support/eventually.ts';
import { noteStatements } from '../support/statement-notes.ts';
import { startTestGateway } from '../support/test-gateway.ts';

/**
 * What an idle service asks comes every 4, 10 and 20 s: as often in each stretch of this length, wherever that begins.
 * Nobody asks how the call goes until it is over: it lasts 28 s, and rings before.
 */
const STRETCH_SECONDS = 40;

const fileOf = (path: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, '../..', path), 'utf8'));
/** Picks up and is gone: what only the first call of a process costs is paid by then. */
const BRIEF: PersonaInput = {
  kind: 'silent',
  name: 'brief',
  number: '+14155550199',
  ringMs: 100,
  hangsUpAfterMs: 1_000,
};

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));

it('an idle service commits at most every other second; a scripted call costs at most 28 commits and 60 statements', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-call-cost-'));
  const notes = noteStatements(folder);
  const startedAt = Date.now();
  const gateway = await startTestGateway({
    dataDir: join(folder, 'data'),
    agent: fileOf('bench/demo/agent.json') as AgentDefinition,
    personas: [BRIEF, ...(fileOf('bench/emulators/personas/demo.json') as PersonaInput[])],
    controlEnv: notes.env,
    log: () => {},
  });
  try {
    const { agentId, enterprise, lineId: from, client } = gateway;
    const callOf = async (to: string): Promise<string> =>
      (await client.place({ to, agentId, enterprise, from, name: 'Dana' })).body.callUuid!;
    const isStored = ({ endedAt, recording }: Call): boolean => endedAt !== null && recording?.status === 'ready';
    await client.waitFor(await callOf(BRIEF.number), 'the recording of the first call', isStored);
    // The first look of the hour comes a minute after the start, and is of no call.
    const hasLooked = (): boolean =>
      notes.between(startedAt, Date.now()).texts.some((text) => text.includes('"call_turns_rest"'));
    await eventually('the look of the hour', hasLooked);
    await seconds(5);
    const idleFrom = Date.now();
    await seconds(STRETCH_SECONDS);
    const placedAt = Date.now();
    const idle = notes.between(idleFrom, placedAt);
    const callUuid = await callOf('+14155550123');
    await seconds(STRETCH_SECONDS);
    const whole = notes.between(placedAt, Date.now());
    const call = await client.waitFor(callUuid, 'its recording', isStored);
    expect(call).toMatchObject({ status: 'completed', transcriptStatus: 'ready' });

    const commits = whole.commits - idle.commits;
    const statements = whole.statements - idle.statements;
    // Of what comes more seldom than that, and at either edge, each may be in it once more than its share.
    const mostIdle = STRETCH_SECONDS / 2 + idle.texts.length;
    expect(idle.commits, idle.texts.join('\n')).toBeLessThanOrEqual(mostIdle);
    expect(commits, whole.texts.join('\n')).toBeLessThanOrEqual(28);
    expect(statements, whole.texts.join('\n')).toBeLessThanOrEqual(60);
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
