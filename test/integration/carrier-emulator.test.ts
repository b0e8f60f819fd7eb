/** The carrier emulator as a process of its own, as the demo and a user start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, test } from 'vitest';

const MAIN = new URL('../../dist/bench/emulators/main.js', import.meta.url).pathname;
const SECRET = 'canary-of-the-emulator';
const folder = mkdtempSync(join(tmpdir(), 'parley-emulator-test-'));
let child: ChildProcess;

afterEach(() => {
  child.kill('SIGKILL');
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A file of people who say nothing. */
function silent(): string {
  const file = join(folder, 'personas.json');
  writeFileSync(file, JSON.stringify([{ kind: 'silent', name: 'Busy', number: '+15550100009', outcome: 'busy' }]));
  return file;
}

function start(...args: string[]): AsyncIterableIterator<string> {
  child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  return createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
}

describe('the carrier emulator as a process', () => {
  test('prints one JSON line per event, serves calls, and ends with code 0 at SIGTERM', async () => {
    const lines = start('--auth-id', 'MATEST', '--auth-token', SECRET, '--personas', silent());
    const seen: string[] = [];
    const next = async (): Promise<Record<string, unknown>> => {
      const { value } = await lines.next();
      seen.push(value);
      return JSON.parse(value);
    };
    const { event, apiBase } = await next();
    expect(event).toBe('listening');
    const placed = await fetch(`${apiBase}/v1/Account/MATEST/Call/`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`MATEST:${SECRET}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ from: '15550100000', to: '15550100009', answer_url: 'http://127.0.0.1:9/answer' }),
    });
    expect(placed.status).toBe(201);
    const { request_uuid: uuid } = (await placed.json()) as { request_uuid: string };
    expect(await next()).toMatchObject({ event: 'placed', callUuid: uuid, persona: 'Busy' });
    expect(await next()).toMatchObject({ event: 'hangup', callUuid: uuid, code: 3010 });
    const truth = await (await fetch(`${apiBase}/emulator/calls/${uuid}`)).json();
    expect(truth).toMatchObject({ state: 'over', hangup: { code: 3010 } });
    expect(seen.join('\n')).not.toContain(SECRET);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.each([
    ['an option that it does not have', ['--auth-toke', SECRET], '--auth-token <token>'],
    ['a limit that is none', ['--limit-requests', 'ten'], "--limit-requests takes a whole number from 1 on, not 'ten'"],
    ['a time that is none', ['--handshake-timeout-ms', '0'], '--handshake-timeout-ms takes a whole number from 1 on'],
  ])('%s ends it with code 2, and it says what it takes', async (_what, args, expected) => {
    start('--personas', silent(), ...args);
    let errors = '';
    child.stderr!.on('data', (chunk) => {
      errors += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(2);
    expect(errors).toContain(expected);
  });
});
