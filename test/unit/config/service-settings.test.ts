import { expect, test } from 'vitest';
import { loadServiceSettings } from '../../../src/config/service-settings.ts';

test('an empty environment gives the embedded database and the local address', () => {
  const settings = loadServiceSettings({ PUBLIC_URL: '' });
  expect(settings.databaseUrl).toBeNull();
  expect(settings.publicUrl).toBe('http://127.0.0.1:8080');
});

test('the public address follows the port, and loses its trailing slash', () => {
  expect(loadServiceSettings({ PORT: '9000' }).publicUrl).toBe('http://127.0.0.1:9000');
  expect(loadServiceSettings({ PUBLIC_URL: 'https://voice.example.com/' }).publicUrl).toBe('https://voice.example.com');
});

test('TRUSTED_PROXIES takes addresses and ranges; a slip is named with the way out', () => {
  const read = (list: string): readonly string[] => loadServiceSettings({ TRUSTED_PROXIES: list }).trustedProxies;
  expect(read('')).toEqual([]);
  expect(read(' 10.0.0.5, 10.1.0.0/16 ,fd00::/8,::1,')).toEqual(['10.0.0.5/32', '10.1.0.0/16', 'fd00::/8', '::1/128']);
  for (const slip of [
    '10.0.0.0/33',
    'proxy.example',
    '10.0.0',
    '127.1',
    '10.0.0.5/',
    '10.0.0.0/8/8',
    'fd00::/129',
    '10.0.0.0/-1',
  ]) {
    expect(() => read(`127.0.0.1,${slip}`), slip).toThrow(
      /TRUSTED_PROXIES names '[^']*', which is no address and no range; write .* 10\.0\.0\.5/,
    );
  }
  for (const everybody of ['0.0.0.0/0', '::/0', '10.0.0.0/00']) {
    expect(() => read(everybody), everybody).toThrow(/is everybody/);
  }
  expect(() => read('::ffff:10.0.0.0/104')).toThrow(/write it as IPv4/);
  expect(loadServiceSettings({}).trustedProxyHeader).toBe('auto');
  expect(loadServiceSettings({ TRUSTED_PROXY_HEADER: 'forwarded' }).trustedProxyHeader).toBe('forwarded');
  expect(() => loadServiceSettings({ TRUSTED_PROXY_HEADER: 'via' })).toThrow(
    /TRUSTED_PROXY_HEADER must be .*x-forwarded-for or forwarded, not "via"/,
  );
});

test('STREAM_URL gives the path of a node’s streams; without a node, a path or a name it is refused with the way out', () => {
  const load = (STREAM_URL: string, PARLEY_NODE = 'a') => loadServiceSettings({ STREAM_URL, PARLEY_NODE });
  expect(loadServiceSettings({}).streamPath).toBeNull();
  expect(load('wss://voice.example.com/n/{node}').streamPath).toBe('/n/a');
  expect(load('wss://{node}.example.com/streams/').streamPath).toBe('/streams');
  expect(() => load('wss://voice.example.com/n/{node}', '')).toThrow(
    /STREAM_URL holds {node}, so PARLEY_NODE must be set/,
  );
  expect(() => load('wss://voice.example.com/n/a')).toThrow(/STREAM_URL must hold {node}/);
  for (const bare of ['wss://{node}.example.com', 'wss://{node}.example.com/', 'wss://voice.example.com/N/{node}']) {
    expect(() => load(bare), bare).toThrow(/STREAM_URL must have a path/);
  }
  for (const slip of ['https://voice.example.com/n/{node}', 'voice/{node}', 'wss://voice.example.com/n/{node}?x=1']) {
    expect(() => load(slip), slip).toThrow(/STREAM_URL must be where carriers open streams/);
  }
  expect(() => load('wss://voice.example.com/n/{node}', 'No_Name')).toThrow(/PARLEY_NODE/);
});

test('the local engines may have no threads; the pipeline has one at least', () => {
  expect(loadServiceSettings({}).providerThreads).toBe(1);
  const none = loadServiceSettings({
    PARLEY_SPEECH_THREADS: '0',
    PARLEY_LISTEN_THREADS: '0',
    PARLEY_PROVIDER_THREADS: '0',
  });
  expect([none.ttsThreads, none.sttThreads, none.providerThreads]).toEqual([0, 0, 0]);
  expect(() => loadServiceSettings({ PARLEY_PIPELINE_THREADS: '0' })).toThrow(
    /PARLEY_PIPELINE_THREADS must be at least 1/,
  );
});

test('every setting at fault is named at once, with the way out', () => {
  const load = () => loadServiceSettings({ PORT: '70000', DATABASE_URL: 'mysql://x', PARLEY_MASTER_KEY: 'abc' });
  expect(load).toThrow(/PORT must be at most 65535/);
  expect(load).toThrow(/DATABASE_URL must begin with postgresql:/);
  expect(load).toThrow(/PARLEY_MASTER_KEY must be 64 hexadecimal digits \(openssl rand -hex 32\)/);
});

test('a setting at fault is named once, with what was given unless that may be a secret', () => {
  const faultsOf = (given: Record<string, string>): string[] => {
    try {
      loadServiceSettings(given);
    } catch (error) {
      return (error as Error).message.split('\n').slice(1);
    }
    return [];
  };
  expect(faultsOf({ PORT: '70000' })).toEqual(['  PORT must be at most 65535, not "70000"']);
  expect(faultsOf({ PUBLIC_URL: 'voice' })).toEqual([
    '  PUBLIC_URL must be the http(s) address that carriers and browsers dial, not "voice"',
  ]);
  expect(faultsOf({ PARLEY_LOG_LEVEL: 'loud' })[0]).toContain('must be trace, debug, info, warn, error or silent, not');
  const secret = faultsOf({ DATABASE_URL: 'canary', REDIS_URL: 'canary', PUBLIC_URL: 'ftp://me:canary@x' });
  expect(secret).toHaveLength(3);
  expect(secret.join()).not.toContain('canary');
});

test('what control alone reads is told of in the same list, before anything starts', () => {
  const given = { PORT: 'x', PARLEY_ADMISSION: 'count', WEBHOOK_ALLOW_CIDRS: 'all', CARRIER_API_BASE_PLIVO: 'nowhere' };
  const load = () => loadServiceSettings(given);
  expect(load).toThrow(/PORT must be a whole number from 1 to 65535, not "x"\n/);
  expect(load).toThrow(/PARLEY_ADMISSION must be measured \(the default\) or counted, not "count"/);
  expect(load).toThrow(/WEBHOOK_ALLOW_CIDRS must be ranges/);
  expect(load).toThrow(/CARRIER_API_BASE_PLIVO must be/);
  expect(() => loadServiceSettings({ PUBLIC_URL: 'https://x.example/?a=1' })).toThrow(
    /PUBLIC_URL must not have a query/,
  );
});

test('a metrics port that others can reach wants a token', () => {
  const hostOf =
    (host: string, more: Record<string, string> = {}) =>
    () =>
      loadServiceSettings({ PARLEY_METRICS_HOST: host, ...more });
  for (const host of ['0.0.0.0', '::', '203.0.113.7', '2001:db8::1', 'metrics.example.com', '::ffff:203.0.113.7']) {
    expect(hostOf(host), host).toThrow(/set PARLEY_METRICS_TOKEN \(openssl rand -hex 32\)/);
    expect(hostOf(host, { PARLEY_METRICS_TOKEN: 'short' }), host).toThrow(/at least 16/);
    expect(hostOf(host, { PARLEY_METRICS_TOKEN: 'token-of-prometheus' })().metricsToken).toBe('token-of-prometheus');
    expect(hostOf(host, { PARLEY_METRICS_PORT: '0' })().metricsToken).toBeNull();
  }
  for (const host of ['127.0.0.1', 'localhost', '::1', '10.1.2.3', '192.168.1.4', '172.16.0.9', 'fd00::1']) {
    expect(hostOf(host)().metricsHost).toBe(host);
  }
});
