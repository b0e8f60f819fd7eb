import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/run-cli.ts';
import { sayConsole } from '../../../src/supervisor/first-user-link.ts';
import { readLink, takeLink } from '../../../src/users/one-time-links.ts';
import { findPerson } from '../../../src/users/people.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { CHEAP_HASHING } from '../../support/cheap-hashing.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
beforeAll(async () => {
  test = await openTestDatabase();
  await createWorkspace(test.database, { slug: 'acme', name: 'Acme' });
});
afterAll(() => test.close());

async function parley(...parameters: string[]): Promise<{ code: number; said: string }> {
  const heard: string[] = [];
  const code = await runCli(parameters, {
    environment: { DATABASE_URL: test.connectionString, USER: 'op', PUBLIC_URL: 'https://voice.example.com/' },
    write: (text) => void heard.push(text),
    writeError: (text) => void heard.push(text),
    readInput: async () => '',
  });
  return { code, said: heard.join('') };
}

const tokenIn = (text: string): string => /\/console\/#\/link\/([\w-]{43})/.exec(text)?.[1] ?? '';

async function said(isTerminal: boolean): Promise<string[]> {
  const lines: string[] = [];
  const { connectionString: databaseUrl } = test;
  await sayConsole({
    databaseUrl,
    publicUrl: 'http://127.0.0.1:8080',
    isTerminal,
    log: (line) => void lines.push(line),
  });
  return lines;
}

describe('npm start', () => {
  it('shows the link of the first user to a terminal, and to nothing else', async () => {
    const [shown] = await said(true);
    expect(shown).toContain('http://localhost:8080/console/#/link/');
    expect(await readLink(test.database, tokenIn(shown!))).toMatchObject({ purpose: 'first_user' });
    const [logged] = await said(false);
    expect(logged).toContain('npx parley user link');
    expect(tokenIn(logged!)).toBe('');
  });
});

describe('parley user', () => {
  it('makes the first user by a link, adds others, changes and removes them', async () => {
    const linked = await parley('user', 'link');
    expect(linked.said).toContain('https://voice.example.com/console/#/link/');
    const by = { ip: null, requestId: null };
    const deps = { database: test.database, hashing: CHEAP_HASHING };
    const taking = { password: 'four walls and a roof', email: 'ann@example.com', name: 'Ann', by };
    expect(await takeLink(deps, { token: tokenIn(linked.said), ...taking })).not.toBeNull();
    expect(await said(true)).toEqual([]);
    expect(await parley('user', 'link')).toMatchObject({ code: 1 });

    const made = await parley(
      'user',
      'create',
      'acme',
      '--email',
      'jo@example.com',
      '--name',
      'Jo',
      '--role',
      'supervisor',
    );
    expect(made.code, made.said).toBe(0);
    expect(await readLink(test.database, tokenIn(made.said))).toMatchObject({
      purpose: 'invitation',
      email: 'jo@example.com',
    });
    expect(
      (await parley('user', 'create', 'acme', '--email', 'x@example.com', '--name', 'X', '--role', 'king')).said,
    ).toContain('owner, admin');
    expect((await parley('user', 'list', 'acme')).said).toMatch(/jo@example\.com +Jo +supervisor +invited/);
    expect((await parley('user', 'list')).said).toMatch(/ann@example\.com +Ann +operator/);
    expect((await parley('user', 'role', 'acme', 'jo@example.com', 'admin')).said).toContain('admin');
    expect((await parley('user', 'role', 'acme', 'ann@example.com', 'analyst')).said).toContain('last owner');
    expect((await parley('user', 'remove', 'ann@example.com')).said).toContain('last owner');
    expect(await findPerson(test.database, 'ann@example.com')).not.toBeNull();
    expect((await parley('user', 'reset', 'ann@example.com')).said).toContain('#/link/');
    expect((await parley('user', 'operator', 'jo@example.com', 'on')).said).toContain('operator');
    expect((await findPerson(test.database, 'jo@example.com'))?.isOperator).toBe(true);
    expect((await parley('user', 'remove', 'jo@example.com', '--workspace', 'acme')).code).toBe(0);
    expect((await parley('user', 'remove', 'jo@example.com')).code).toBe(0);
    expect(await findPerson(test.database, 'jo@example.com')).toBeNull();
    expect((await parley('user', 'remove', 'jo@example.com')).said).toContain('There is no user');
    const rows = await test.database.query<{ actor: string }>(
      `SELECT actor FROM audit_log WHERE action LIKE 'user.%' AND actor NOT LIKE 'user:%'`,
    );
    expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['cli:op']));
  });
});
