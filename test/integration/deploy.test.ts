/** What lies in `deploy/`, beside what it is for: a service's metrics, and nodes behind the balancer. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { familiesOf, familyOf } from '../../bench/alerts/metrics-text.ts';
import { dashboardQueries, seriesIn } from '../../bench/alerts/written.ts';
import { endChild } from '../../bench/harness/end-child.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import { startGateway } from '../../bench/harness/gateway.ts';
import { briefAgent } from '../../bench/harness/brief-agent.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import { DEPLOY, deployFile } from '../support/deploy-files.ts';
import { eventually } from '../support/eventually.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
});

/** There only where a collector is set. */
const OF_TRACES = /^parley_traces_/;

describe('metrics', () => {
  it('that alerts, dashboard and documentation name are those of a running service', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'parley-metric-names-'));
    stops.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const port = await freePort();
    const gateway = await startGateway({
      dataDir,
      personas: [],
      agent: briefAgent(),
      settings: { PARLEY_METRICS_PORT: String(port) },
      volatileDatabase: true,
      log: () => {},
    });
    stops.push(gateway.stop);
    // Media reports each 5 s.
    const families = await eventually('the report of media', async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const found = familiesOf(text);
      return found.has('parley_media_calls') ? found : null;
    });
    const missing = (text: string): string[] =>
      [...seriesIn(text)].filter((name) => !OF_TRACES.test(name) && !families.has(familyOf(name, families)));
    expect(missing(deployFile('prometheus/alerts.yml'))).toEqual([]);
    expect(missing(dashboardQueries().map(({ expr }) => expr).join('\n'))).toEqual([]);
    const page = readFileSync(join(packageRoot(), 'docs/operations.md'), 'utf8');
    const documented = page.slice(page.indexOf('\n## Metrics'), page.indexOf('\n## Traces'));
    expect(missing(documented)).toEqual([]);
    expect([...families].filter((name) => name.startsWith('parley_') && !documented.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the balancer of the compose file', () => {
  async function node(name: string, isReady: () => boolean): Promise<string> {
    const server: Server = createServer(({ url, headers }, response) => {
      response.writeHead(url === '/readyz' && !isReady() ? 503 : 200);
      response.end(JSON.stringify({ name, url, from: headers['x-forwarded-for'] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('sends /n/<node>/ with its prefix to that node, all else to any that is ready, where HAProxy is installed', async () => {
    if (spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).error !== undefined) return;
    const ready = new Set(['a', 'b']);
    const port = await freePort();
    const child = spawn('haproxy', ['-db', '-f', join(DEPLOY, 'compose/haproxy.cfg')], {
      stdio: 'ignore',
      env: {
        ...process.env,
        BIND: `127.0.0.1:${port}`,
        NODE_A: await node('a', () => ready.has('a')),
        NODE_B: await node('b', () => ready.has('b')),
      },
    });
    stops.push(() => endChild(child, 5_000));
    await Promise.race([once(child, 'spawn'), once(child, 'error')]);
    const ask = async (path: string): Promise<{ name: string; url: string; from: string }> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return (await answer.json()) as { name: string; url: string; from: string };
    };
    await eventually('the balancer', () => ask('/').catch(() => null));
    expect(await ask('/n/a/plivo/1')).toEqual({ name: 'a', url: '/n/a/plivo/1', from: '127.0.0.1' });
    expect(await ask('/n/b/plivo/1')).toMatchObject({ name: 'b', url: '/n/b/plivo/1' });
    expect((await ask('/n/gone/plivo/1')).url).toBe('/n/gone/plivo/1');
    ready.delete('a');
    // Its streams still come to it; what is new goes to the other.
    await eventually('the one that drains to be left alone', async () => {
      const names = await Promise.all([1, 2, 3, 4].map(async () => (await ask('/')).name));
      return names.every((name) => name === 'b') || null;
    });
    expect((await ask('/n/a/plivo/2')).name).toBe('a');
  });
});
