/** What operators are given to deploy with fits the code: settings, values, rules, the balancer. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertNames } from '../../../bench/alerts/written.ts';
import { FAULTS } from '../../../bench/alerts/faults.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { loadServiceSettings } from '../../../src/config/service-settings.ts';
import { CHART, chartTemplates, chartValues, deployFile, settingNames } from '../../support/deploy-files.ts';

const MASTER_KEY = 'ab'.repeat(32);
/** Where a program is not installed there is nothing to ask it. */
function has(program: string, ...parameters: string[]): boolean {
  return spawnSync(program, parameters, { stdio: 'ignore' }).error === undefined;
}

/** Of the pod or container, not of Parley. */
const NOT_OURS = new Set(['POD_IP', 'NODE_ENV', 'TMPDIR']);

const unknown = (names: Iterable<string>): string[] =>
  [...new Set(names)].filter((name) => !NOT_OURS.has(name) && !settingNames().has(name));

describe('the chart', () => {
  const templates = chartTemplates();
  const values = chartValues();

  it('uses each value that is documented, and no other', () => {
    const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!));
    const isUsed = (path: string): boolean => [...used].some((one) => path === one || path.startsWith(`${one}.`));
    expect(values.filter(({ path, isLeaf }) => isLeaf && !isUsed(path))).toEqual([]);
    const all = new Set(values.map(({ path }) => path));
    expect([...used].filter((path) => !all.has(path))).toEqual([]);
    expect(values.filter(({ path, isExplained }) => !path.includes('.') && !isExplained)).toEqual([]);
  });

  it('sets what the service knows', () => {
    expect(unknown([...templates.matchAll(/- name: ([A-Z][A-Z0-9_]+)$/gm)].map(([, name]) => name!))).toEqual([]);
  });

  it('gives pods a minute more than calls may go on', () => {
    expect(templates).toContain('terminationGracePeriodSeconds: {{ add (int .Values.drainSeconds) 60 }}');
    expect(deployFile('helm/parley/values.yaml')).toMatch(/^drainSeconds: 1860$/m);
  });

  it('has the alerts as they are', () => {
    expect(deployFile('helm/parley/files/alerts.yml')).toBe(deployFile('prometheus/alerts.yml'));
  });

  it('is rendered, and says what is missing, where helm is installed', () => {
    if (!has('helm', 'version')) return;
    const folder = mkdtempSync(join(tmpdir(), 'parley-chart-'));
    const helm = (text: string): { status: number | null; said: string } => {
      writeFileSync(join(folder, 'values.yaml'), text);
      const run = spawnSync(
        'helm',
        ['template', 'parley', CHART, '--kube-version', '1.31.0', '-f', join(folder, 'values.yaml')],
        { encoding: 'utf8' },
      );
      return { status: run.status, said: `${run.stdout}${run.stderr}` };
    };
    const without = helm('{}');
    expect(without.status).not.toBe(0);
    for (const path of ['image.repository', 'publicUrl', 'database.secretName', 'masterKey.secretName', 'recordings.bucket'])
      expect(without.said).toContain(path);
    const { status, said } = helm(
      JSON.stringify({
        image: { repository: 'r.example.com/parley' },
        publicUrl: 'https://voice.example.com',
        trustedProxies: ['10.0.0.0/8'],
        database: { secretName: 'db' },
        masterKey: { secretName: 'key' },
        recordings: { bucket: 'acme', secretName: 's3' },
        ingress: { enabled: true },
      }),
    );
    rmSync(folder, { recursive: true });
    expect(status, said).toBe(0);
    expect(said).toContain('path: /n/parley-2/');
    expect(said).toContain('value: "wss://voice.example.com/n/{node}"');
  });
});

describe('the compose file and the units', () => {
  it('set what the service knows', () => {
    const compose = deployFile('compose/compose.yaml');
    const settings = compose.slice(compose.indexOf('x-settings'), compose.indexOf('\nservices:'));
    const nodes = [...compose.matchAll(/^\s+((?:PARLEY|DATABASE|REDIS)_\w+):/gm)].map(([, name]) => name!);
    expect(unknown([...settings.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name!))).toEqual([]);
    expect(unknown(nodes)).toEqual([]);
    const unit = deployFile('systemd/parley.service');
    const inUnit = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
      line!.split(' ').map((pair) => pair.split('=')[0]!),
    );
    expect(inUnit).toContain('PARLEY_MASTER_KEY_FILE');
    expect(unknown(inUnit)).toEqual([]);
    const env = deployFile('systemd/parley.env.example');
    expect(unknown([...env.matchAll(/^([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name!))).toEqual([]);
  });

  it('let a node drain to its end', () => {
    expect(deployFile('compose/compose.yaml')).toMatch(/stop_grace_period: 1920s/);
    expect(deployFile('systemd/parley.service')).toMatch(/^KillMode=mixed\n(.*\n)*TimeoutStopSec=1920$/m);
  });

  it('has an example of settings with which a node starts', () => {
    const given = Object.fromEntries(
      [...deployFile('systemd/parley.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
    );
    const whole = {
      ...given,
      PARLEY_MASTER_KEY: MASTER_KEY,
      PARLEY_RUN_DIR: '/run/parley',
      RECORDING_S3_ACCESS_KEY_ID: 'id',
      RECORDING_S3_SECRET_ACCESS_KEY: 'secret',
    };
    expect(loadConfig(whole).node.streamUrl).toBe('wss://voice.example.com/n/a');
    expect(loadServiceSettings(whole).streamPath).toBe('/n/a');
  });
});

describe('the alerts', () => {
  it('each have a fault that the bench makes', () => {
    expect(Object.keys(FAULTS).toSorted()).toEqual(alertNames().toSorted());
  });

  it('are silent first and fire then, where promtool is installed', () => {
    if (!has('promtool', '--version')) return;
    const run = spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], {
      cwd: join(CHART, '../../prometheus'),
      encoding: 'utf8',
    });
    expect(run.status, `${run.stdout}${run.stderr}`).toBe(0);
  });
});
