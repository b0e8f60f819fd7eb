import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import type { ConnectionGrant } from '../../../media/contract/grant.ts';
import { PROVIDER_NAMES, PROVIDERS } from '../../../media/contract/providers.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../media/net/guarded-client.ts';
import type { OutboundHttp, OutboundRequest, OutboundResult } from '../../../media/net/outbound-http.ts';
import { type ConnectionTrial, tryGrant } from '../../../src/connections/provider-trial.ts';
import { startPlainOpenAi } from '../../support/providers/plain-openai.ts';
import { TEST_CERTIFICATE } from '../media/net/test-certificate.ts';
import { type Answer, startReceiver, type TestReceiver } from '../media/net/test-receiver.ts';

const KEY = 'key-canary-of-a-provider';
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let guard: ReturnType<typeof createAddressGuard>;
beforeAll(() => {
  guard = createAddressGuard(['127.0.0.0/8'], 'MODEL_ALLOW_CIDRS');
});

function client(ca?: string, allowed = guard): OutboundHttp {
  const http = createGuardedClient({ guard: allowed, clock: systemClock, ...(ca === undefined ? {} : { ca }) });
  ends.push(() => http.close());
  return http;
}

async function receiver(answer: Answer, secure = false): Promise<TestReceiver> {
  const made = await startReceiver(answer, secure);
  ends.push(() => made.close());
  return made;
}

const grant = (provider: string, baseUrl: string, change: Partial<ConnectionGrant> = {}): ConnectionGrant => ({
  name: 'c',
  version: 4,
  provider,
  baseUrl,
  credentials: { apiKey: KEY },
  limits: {},
  settings: {},
  ...change,
});

async function tried(given: ConnectionGrant, model?: string, http = client()): Promise<ConnectionTrial> {
  const trial = await tryGrant({ http, clock: systemClock }, given, model);
  expect(JSON.stringify(trial)).not.toContain(KEY);
  expect(trial.version).toBe(4);
  return trial;
}

/** By path: status and body; a path that is not there is 404. */
const paths =
  (known: Record<string, [number, unknown]>): Answer =>
  (request, response) => {
    const [status, body] = known[request.url] ?? [404, { message: 'no such path' }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

describe('each provider', () => {
  it('is asked in its own way, with its own header', async () => {
    const expected = {
      deepgram: ['/v1/auth/token', 'authorization', `Token ${KEY}`],
      assemblyai: ['/v3/token?expires_in_seconds=60', 'authorization', KEY],
      openai_compatible: ['/models', 'authorization', `Bearer ${KEY}`],
      cartesia: ['/voices?limit=1', 'x-api-key', KEY],
      anthropic: ['/v1/models', 'x-api-key', KEY],
      gemini: ['/v1beta/models?pageSize=1000', 'x-goog-api-key', KEY],
      elevenlabs: ['/v1/models', 'xi-api-key', KEY],
    } as const;
    expect(Object.keys(expected).toSorted()).toEqual([...PROVIDER_NAMES].toSorted());
    for (const provider of PROVIDER_NAMES) {
      const [path, header, value] = expected[provider];
      const bodies: Partial<Record<typeof provider, unknown>> = {
        elevenlabs: [{ model_id: 'm-1' }],
        gemini: { models: [{ name: 'models/m-1' }] },
      };
      const body = bodies[provider] ?? { data: [{ id: 'm-1' }] };
      const target = await receiver(paths({ [path]: [200, body] }));
      const trial = await tried(grant(provider, `http://127.0.0.1:${target.port}`));
      expect(trial, provider).toMatchObject({ ok: true, fault: null, problem: null });
      expect(target.requests.map(({ url }) => url)).toEqual([path]);
      expect(target.requests[0]?.headers[header]).toBe(value);
      expect(target.requests[0]?.body).toBe('');
      const listsModels = !['deepgram', 'assemblyai', 'cartesia'].includes(provider);
      expect(trial.models).toEqual(listsModels ? ['m-1'] : null);
    }
  });

  it('has what its declaration says', () => {
    for (const name of PROVIDER_NAMES) {
      const { can, defaultBaseUrl, credentials } = PROVIDERS[name];
      expect(can.length).toBeGreaterThan(0);
      expect(defaultBaseUrl).toMatch(/^https:\/\/[^?#]+[^/]$/);
      expect(credentials.every(({ secret }) => secret)).toBe(true);
    }
  });

  it('may lack the first path: a server of one’s own is asked the next', async () => {
    const target = await receiver(paths({ '/v1/projects': [200, { projects: [] }] }));
    expect((await tried(grant('deepgram', `http://127.0.0.1:${target.port}`))).ok).toBe(true);
    expect(target.requests.map(({ url }) => url)).toEqual(['/v1/auth/token', '/v1/projects']);
  });
});

describe('what is wrong is named', () => {
  const answers: [string, string, Record<string, [number, unknown]>, Partial<ConnectionTrial>][] = [
    [
      'deepgram',
      'a wrong key',
      { '/v1/auth/token': [401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }] },
      { fault: 'key_refused', problem: 'it answered 401: “Invalid credentials.”; give it the right key' },
    ],
    [
      'elevenlabs',
      'a wrong key',
      { '/v1/models': [401, { detail: { status: 'invalid_api_key', message: `Invalid API key ${KEY}` } }] },
      { fault: 'key_refused', problem: 'it answered 401: “Invalid API key …”; give it the right key' },
    ],
    [
      'gemini',
      'a wrong key, which it calls a wrong request',
      {
        '/v1beta/models?pageSize=1000': [
          400,
          { error: { code: 400, message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] } },
        ],
      },
      { fault: 'key_refused', problem: 'it answered 400: “API key not valid.”; give it the right key' },
    ],
    [
      'elevenlabs',
      'a key for speech alone',
      { '/v1/models': [401, { detail: { status: 'missing_permissions', message: 'models_read' } }] },
      { ok: true, fault: null, problem: 'the key is right; it may not list models' },
    ],
    [
      'elevenlabs',
      'too many requests',
      { '/v1/models': [429, { detail: { message: 'quota' } }] },
      { fault: 'throttled' },
    ],
    [
      'openai_compatible',
      'a provider that is down',
      { '/models': [503, 'x'] },
      { fault: 'provider_error', problem: 'it answered 503' },
    ],
    ['openai_compatible', 'another server', { '/models': [200, { hello: 1 }] }, { fault: 'nonsense' }],
    [
      'openai_compatible',
      'another path',
      {},
      { fault: 'rejected', problem: 'it answered 404: “no such path”; is the base URL right?' },
    ],
    ['openai_compatible', 'a redirect', { '/models': [307, {}] }, { fault: 'rejected' }],
  ];
  it.each(answers)('%s: %s', async (provider, _what, known, expected) => {
    const target = await receiver(paths(known));
    expect(await tried(grant(provider, `http://127.0.0.1:${target.port}`))).toMatchObject({ ok: false, ...expected });
  });

  it('a certificate that nobody vouches for, and one that is trusted', async () => {
    const target = await receiver(paths({ '/models': [200, { data: [] }] }), true);
    const at = grant('openai_compatible', `https://127.0.0.1:${target.port}`);
    expect(await tried(at)).toMatchObject({
      fault: 'tls',
      problem: expect.stringMatching(/self-signed.*NODE_EXTRA_CA_CERTS/),
    });
    expect(target.requests).toEqual([]);
    expect((await tried(at, undefined, client(TEST_CERTIFICATE))).ok).toBe(true);
  });

  it('an address that is private, one where nobody listens, and one that does not answer', async () => {
    const target = await receiver(() => {});
    const at = grant('openai_compatible', `http://127.0.0.1:${target.port}`);
    const refused = await tried(at, undefined, client(undefined, createAddressGuard([], 'MODEL_ALLOW_CIDRS')));
    expect(refused).toMatchObject({ fault: 'address_refused', problem: expect.stringContaining('MODEL_ALLOW_CIDRS') });
    expect(target.connections).toBe(0);
    await target.close();
    expect(await tried(at)).toMatchObject({ fault: 'unreachable', problem: expect.stringContaining('ECONNREFUSED') });
    const silent: OutboundResult = { kind: 'failed', reason: 'no answer within 15000 ms', isTimeout: true };
    const http = { send: async () => silent, close: async () => {} };
    expect(await tried(at, undefined, http)).toMatchObject({ fault: 'timeout', problem: 'no answer within 15000 ms' });
  });
});

describe('a model', () => {
  it('is asked for one token; one that there is not is named, with some that there are', async () => {
    const emulator = await startPlainOpenAi(KEY);
    ends.push(() => emulator.close());
    const at = grant('openai_compatible', emulator.baseUrl, { settings: { organization: 'org-1', project: 'p-1' } });
    expect(await tried(at, 'emulated-1')).toMatchObject({ ok: true, models: ['emulated-1'] });
    expect(emulator.endpoint.journal.entries('answered')).toMatchObject([{ model: 'emulated-1', maxTokens: 1 }]);
    const unknown = await tried(at, 'gpt-9');
    expect(unknown).toMatchObject({ fault: 'model_unknown', problem: "it has no model 'gpt-9'; it has: emulated-1" });
    const wrong = await tried({ ...at, credentials: { apiKey: 'wrong' } }, 'emulated-1');
    expect(wrong.fault).toBe('key_refused');
  });

  it.each([
    ['m-1', '/v1beta/models/m-1'],
    ['models/m-1', '/v1beta/models/m-1'],
    ['tunedModels/ours', '/v1beta/tunedModels/ours'],
    ['models/../../upload/v1', '/v1beta/models/upload/v1'],
  ])('of Gemini, %s, is asked where calls ask it', async (model, path) => {
    const listed: [number, unknown] = [200, { models: [{ name: 'models/m-1' }] }];
    const known = { '/v1beta/models?pageSize=1000': listed, [`${path}:generateContent`]: [200, {}] as typeof listed };
    const target = await receiver(paths(known));
    expect(await tried(grant('gemini', `http://127.0.0.1:${target.port}`), model)).toMatchObject({ ok: true });
  });

  it('is asked with the newer name of the limit where the older is refused, and with the headers of the account', async () => {
    const asked: OutboundRequest[] = [];
    const answered = (status: number, body: object): OutboundResult => ({
      kind: 'answered',
      status,
      retryAfter: null,
      body: JSON.stringify(body),
      responseMs: 1,
    });
    const http: OutboundHttp = {
      async send(request) {
        asked.push(request);
        if (request.method === 'GET') return answered(404, {});
        const body = JSON.parse(request.body.toString()) as object;
        return 'max_tokens' in body
          ? answered(400, { error: { message: 'use max_completion_tokens' } })
          : answered(200, {});
      },
      close: async () => {},
    };
    const at = grant('openai_compatible', 'https://llm.example/v1', {
      settings: { organization: 'org-1', project: 'p-1' },
    });
    expect(await tried(at, 'o-1', http)).toMatchObject({ ok: true, models: null });
    expect(asked.map(({ url }) => url.slice(22))).toEqual(['/models', '/chat/completions', '/chat/completions']);
    expect(asked.every(({ headers }) => headers['openai-organization'] === 'org-1')).toBe(true);
    expect(asked.every(({ headers }) => headers['openai-project'] === 'p-1')).toBe(true);
  });

  it('of a provider that only lists them is looked for in the list', async () => {
    const target = await receiver(paths({ '/v1/models': [200, [{ model_id: 'eleven_flash_v2_5' }]] }));
    const at = grant('elevenlabs', `http://127.0.0.1:${target.port}`);
    expect((await tried(at, 'eleven_flash_v2_5')).ok).toBe(true);
    expect((await tried(at, 'eleven_zero')).fault).toBe('model_unknown');
    await expect(tried(at, '')).rejects.toThrow('`model` must be 1 to 120');
  });
});
