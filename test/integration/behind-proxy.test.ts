/**
 * The real service behind a real nginx with TLS: two clients, 127.0.0.1 and 127.0.0.2, have two addresses in key
 * ranges, throttles, limits, audit and `/ws/live`, and what a client writes into X-Forwarded-For or Forwarded is worth
 * nothing. Beside it an nginx that the service does not trust, whose clients are one, which log and doctor say.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../../bench/harness/free-port.ts';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import { loadDoctorSettings } from '../../src/doctor/doctor-settings.ts';
import { checkClientAddresses } from '../../src/doctor/proxy-check.ts';
import type { Database } from '../../src/store/database.ts';
import { makeApiKey } from '../../src/workspaces/api-key-format.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import { eventually } from '../support/eventually.ts';
import { hasNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const ORIGIN = 'https://shop.example.com';
const [ONE, TWO] = ['127.0.0.1', '127.0.0.2'] as const;
const TRUSTED = '127.0.0.9';
const INNER = '127.0.0.10';
const STRANGER = '127.0.0.11';
/** What an attacker may write to be somebody else. */
const forged = (address: string): Record<string, string> => ({
  'x-forwarded-for': `${address}, ${address}`,
  forwarded: `for=${address}`,
  'x-real-ip': address,
});

describe.skipIf(!hasNginx)('behind nginx', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-behind-'));
  let gateway: Gateway;
  let nginx: Nginx;
  let database: Database;
  let output = '';
  /** Ports of nginx: one trusted, one before another that is trusted too, one that is not trusted. */
  const ports = { trusted: 0, twice: 0, inner: 0, stranger: 0 };

  beforeAll(async () => {
    const servicePort = await freePort();
    for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
    [gateway, nginx] = await Promise.all([
      startTestGateway({
        dataDir,
        port: servicePort,
        agent: { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 },
        personas: [],
        webOrigins: [ORIGIN],
        settings: {
          TRUSTED_PROXIES: `${TRUSTED}, ${INNER}/32`,
          PARLEY_LOG_LEVEL: 'info',
        },
        log: () => {},
        childOutput: (text) => {
          output += text;
        },
      }),
      startNginx(join(dataDir, 'nginx'), [
        { port: ports.trusted, connectsFrom: TRUSTED, upstreamPort: servicePort },
        { port: ports.twice, connectsFrom: INNER, upstreamPort: ports.inner },
        { port: ports.inner, connectsFrom: TRUSTED, upstreamPort: servicePort, isPlain: true },
        { port: ports.stranger, connectsFrom: STRANGER, upstreamPort: servicePort },
      ]),
    ]);
    database = openPatientDatabase(gateway.service.databaseUrl, 2);
  });
  afterAll(async () => {
    await database?.close();
    await nginx?.stop();
    await gateway?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  interface Asked {
    path: string;
    from: string;
    via?: keyof typeof ports;
    key?: string;
    headers?: Record<string, string>;
    body?: object;
  }

  async function ask({ path, from, via = 'trusted', key = '', headers = {}, body }: Asked) {
    const payload = body === undefined ? '' : JSON.stringify(body);
    return new Promise<{ status: number; code: string; json: Record<string, unknown> }>((resolve, reject) => {
      const outgoing = secureRequest(
        {
          host: '127.0.0.1',
          port: ports[via],
          localAddress: from,
          ca: nginx.ca,
          servername: 'localhost',
          agent: false,
          path,
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length }),
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              code: String(response.headers['x-error-code'] ?? ''),
              json: JSON.parse(text) as Record<string, unknown>,
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** Straight to the service's own port, past every proxy. */
  const askDirectly = (from: string, key: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(gateway.service.publicUrl);
      const options = { host: '127.0.0.1', port, localAddress: from, agent: false, path: '/api/developer/agents' };
      request({ ...options, headers: { authorization: `Bearer ${key}`, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });

  const makeKey = async (allowedCidrs: string[]): Promise<string> => {
    const scopes = ['agents:read', 'leads:write', 'audit:read'] as const;
    return (await createApiKey(database, { slug: gateway.enterprise, name: 'k', scopes: [...scopes], allowedCidrs }))
      .text;
  };

  test('the range of a key lets in the client that is in it, through one proxy and through two, and no other', async () => {
    const key = await makeKey([`${TWO}/32`]);
    const status = async (asked: Partial<Asked>): Promise<number> =>
      (await ask({ path: '/api/developer/agents', from: TWO, key, ...asked })).status;
    expect(await status({})).toBe(200);
    expect(await status({ via: 'twice' })).toBe(200);
    expect(await status({ headers: forged('203.0.113.9') })).toBe(200);
    for (const via of ['trusted', 'twice', 'stranger'] as const) {
      expect([via, await status({ via, from: ONE })]).toEqual([via, 401]);
      expect([via, await status({ via, from: ONE, headers: forged(TWO) })]).toEqual([via, 401]);
      expect([via, await status({ via, from: ONE, headers: forged(TRUSTED) })]).toEqual([via, 401]);
    }
    expect(await status({ via: 'stranger' })).toBe(401);
    expect(await askDirectly(TWO, key, {})).toBe(200);
    expect(await askDirectly(ONE, key, forged(TWO))).toBe(401);
    // Nor does it pay to be taken for a proxy: a key of the proxies' own range.
    const proxies = await makeKey([`${TRUSTED}/32`]);
    expect(await status({ key: proxies, headers: forged(TRUSTED) })).toBe(401);
    expect(await status({ key: proxies, headers: { 'x-forwarded-for': 'unknown, _x, 999.1.1.1' } })).toBe(401);
  });

  test('the audit has the address of the client, whatever it claims', async () => {
    const key = await makeKey([]);
    const phones = ['+14155550150', '+14155550151'];
    for (const [index, from] of [ONE, TWO].entries()) {
      const body = { enterprise: gateway.enterprise, phone: phones[index] };
      const made = await ask({ path: '/api/developer/leads', from, key, body, headers: forged('203.0.113.9') });
      expect(made.status).toBe(201);
    }
    const rows = await database.query<{ ip: string }>(
      `SELECT ip FROM audit_log WHERE action = 'lead.created' ORDER BY id`,
    );
    expect(rows.map(({ ip }) => ip)).toEqual([ONE, TWO]);
  });

  test('wrong keys of one client shut that client, and a new name for itself with each does not help it', async () => {
    const guess = (from: string, nth: number) =>
      ask({ path: '/api/developer/agents', from, key: makeApiKey().text, headers: forged(`198.51.100.${nth}`) });
    let code = '';
    // One is forgotten each 3 s: a slow machine needs some more.
    for (let nth = 0; nth < 100 && code !== 'auth_rate_limit'; nth++) ({ code } = await guess(ONE, nth));
    expect(code).toBe('auth_rate_limit');
    expect((await guess(TWO, 0)).code).toBe('unauthorized');
    const rows = await database.query<{ name: string }>(
      `SELECT name FROM rate_limits WHERE name LIKE 'auth:address:%'`,
    );
    const names = rows.map(({ name }) => name.slice('auth:address:'.length));
    expect(names).toEqual(expect.arrayContaining([ONE, TWO]));
    expect(names.filter((name) => !name.startsWith('127.0.0.'))).toEqual([]);
    expect(names).not.toContain(TRUSTED);
  });

  test('sessions of a website are counted by visitor', async () => {
    const visit = (from: string, nth: number) =>
      ask({
        path: '/api/embed/session',
        from,
        headers: { origin: ORIGIN, ...forged(`198.51.100.${nth}`) },
        body: { publicKey: gateway.publicKey, agentId: gateway.agentId, parentOrigin: ORIGIN },
      });
    const statuses: number[] = [];
    // One comes free each few seconds: a slow machine needs some more.
    for (let nth = 0; nth < 100 && statuses.at(-1) !== 429; nth++) statuses.push((await visit(ONE, nth)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    expect((await visit(TWO, 0)).status).toBe(200);
  });

  test('a web session has the address of its visitor, and so has a refused upgrade in the log', async () => {
    const issued = await ask({
      path: '/api/embed/session',
      from: TWO,
      headers: { origin: ORIGIN },
      body: { publicKey: gateway.publicKey, agentId: gateway.agentId, parentOrigin: ORIGIN },
    });
    expect(issued.status).toBe(200);
    const upgrade = (token: unknown): WebSocket =>
      new WebSocket(`wss://127.0.0.1:${ports.trusted}/ws/live?token=${token}&parentOrigin=${ORIGIN}`, {
        localAddress: TWO,
        ca: nginx.ca,
        origin: ORIGIN,
        headers: forged('203.0.113.9'),
      });
    const visitor = upgrade(issued.json['token']);
    const first = await new Promise<string>((resolve, reject) => {
      visitor.once('message', (data) => resolve(String(data)));
      visitor.once('error', reject);
    });
    expect(JSON.parse(first)).toMatchObject({ type: 'welcome' });
    const rows = await database.query<{ address: string }>('SELECT address FROM web_sessions');
    expect(rows).toEqual([{ address: TWO }]);
    visitor.close();
    const refused = upgrade('forged');
    expect(await new Promise((resolve) => refused.once('close', resolve))).toBe(4401);
    const line = await eventually('the refusal in the log', () =>
      output.split('\n').find((one) => one.includes('web socket refused')),
    );
    expect(JSON.parse(line!)).toMatchObject({ remoteAddress: TWO, code: 'token_invalid' });
  });

  test('a proxy that is not trusted is told once in the log, and by the doctor', async () => {
    const settings = loadDoctorSettings({ PARLEY_DATA_DIR: dataDir, PORT: new URL(gateway.service.publicUrl).port });
    await ask({ path: '/livez', from: ONE, via: 'stranger' });
    await ask({ path: '/livez', from: ONE, via: 'stranger' });
    const told = (): string[] => output.split('\n').filter((one) => one.includes('a proxy seems to stand in front'));
    await eventually('the line', () => told().length > 0);
    expect(told()).toHaveLength(1);
    expect(checkClientAddresses(settings)[0]).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining(STRANGER),
      wayOut: expect.stringContaining(`TRUSTED_PROXIES (now ${TRUSTED}/32,${INNER}/32)`),
    });
  });
});
