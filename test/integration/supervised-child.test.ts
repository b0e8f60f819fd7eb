import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { superviseChild } from '../../src/supervisor/supervised-child.ts';
import { eventually } from '../support/eventually.ts';

const entry = fileURLToPath(new URL('../support/fixtures/obedient-child.mjs', import.meta.url));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a child that is killed is started again, and stop ends the new one', async () => {
  const said: string[] = [];
  const child = superviseChild({ name: 'obedient', entry, env: {}, log: (line) => said.push(line) });
  await child.ready;
  const first = child.pid() ?? 0;
  process.kill(first, 'SIGKILL');
  await eventually('a new process', () => child.pid() !== first);
  expect(said[0]).toContain('obedient ended (SIGKILL)');
  const second = child.pid() ?? 0;
  await child.stop(5_000);
  expect(isAlive(second)).toBe(false);
});

test('a child that dies before it is ready rejects ready and is not started again', async () => {
  const child = superviseChild({ name: 'early', entry, env: { CHILD_DIES_EARLY: '1' }, log: () => {} });
  await expect(child.ready).rejects.toThrow('early ended (code 3) before it was ready');
  await child.stop(1_000);
});

test('a child that ignores SIGTERM is killed when its limit is over', async () => {
  const child = superviseChild({ name: 'unruly', entry, env: { CHILD_IGNORES_SIGTERM: '1' }, log: () => {} });
  await child.ready;
  const pid = child.pid() ?? 0;
  await child.stop(100);
  expect(isAlive(pid)).toBe(false);
});
