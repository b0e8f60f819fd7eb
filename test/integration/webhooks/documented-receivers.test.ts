/** The two receivers in docs/webhooks.md, run as a reader would run them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../bench/harness/free-port.ts';
import { createWebhookSecret, signatureHeaders } from '../../../src/webhooks/signing.ts';
import { eventually } from '../../support/eventually.ts';

const document = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
const hasPython = spawnSync('python3', ['--version']).status === 0;
let child: ChildProcess | null = null;
let folder = '';
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function codeBlock(language: string): string {
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(document)?.[1];
  if (code === undefined) throw new Error(`docs/webhooks.md has no ${language} block`);
  return code;
}

async function check(command: string, file: string, code: string): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'parley-receiver-'));
  const path = join(folder, file);
  writeFileSync(path, code);
  const port = await freePort();
  const secret = createWebhookSecret();
  let printed = '';
  child = spawn(command, [path], { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) } });
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  const url = `http://127.0.0.1:${port}/`;
  const post = async (signWith: readonly string[], body: string, ageSeconds = 0): Promise<number> => {
    const timestampSeconds = Math.floor(Date.now() / 1_000) - ageSeconds;
    const headers = signatureHeaders(signWith, { id: 'evt_1', timestampSeconds, body });
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const body = '{"event":"call.completed","callUuid":"c1","sequence":1,"id":"evt_1","name":"Zoë 😀"}';
  const first = await eventually('the receiver to listen', () => post([secret], body).catch(() => null), {
    story: () => printed,
  });
  expect(first).toBe(200);
  // Again, during a rotation, too old, by another secret, with another body, and unsigned.
  expect(await post([secret], body)).toBe(200);
  expect(await post([createWebhookSecret(), secret], body)).toBe(200);
  expect(await post([secret], body, 301)).toBe(401);
  expect(await post([createWebhookSecret()], body)).toBe(401);
  const signed = signatureHeaders([secret], { id: 'evt_1', timestampSeconds: Math.floor(Date.now() / 1_000), body });
  expect((await fetch(url, { method: 'POST', headers: signed, body: body.replace('c1', 'c2') })).status).toBe(401);
  expect((await fetch(url, { method: 'POST', body })).status).toBe(401);
  expect(printed).toBe('call.completed c1 1\n');
}

describe('a receiver as documented verifies, drops repeats and refuses what is not genuine', () => {
  it('in TypeScript, saved as receiver.mjs', async () => {
    await check(process.execPath, 'receiver.mjs', codeBlock('ts'));
  });

  it.skipIf(!hasPython)(`in Python${hasPython ? '' : ': skipped, python3 is not installed here'}`, async () => {
    await check('python3', 'receiver.py', codeBlock('python'));
  });
});
