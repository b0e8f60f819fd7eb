/**
 * The official `plivo` package as a second judge of the emulator and of our signatures. Its voice requests go to a
 * fixed address, so its HTTP client's adapter is pointed at the emulator.
 */
import { createRequire } from 'node:module';
import { Client, validateV3Signature } from 'plivo';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PlivoEmulator, startPlivoEmulator } from '../../../../../bench/emulators/plivo/plivo-emulator.ts';
import { verifyUpgradeV3, verifyV3 } from '../../../../../src/carriers/plivo/signature-v3.ts';
import { type GatewayFake, startGatewayFake } from '../gateway-fake.ts';

const CREDENTIALS = { authId: 'MAXXXXXXXXXXXXXXXXXX', authToken: 'token-of-the-test' };
const TO = '15550100001';
const PLIVO = 'https://api.plivo.com';

type Adapter = (config: { url?: string }) => Promise<unknown>;
interface Axios {
  defaults: { adapter: unknown };
  getAdapter(adapter: unknown): Adapter;
}

const requireOfPlivo = createRequire(createRequire(import.meta.url).resolve('plivo'));
const axios = requireOfPlivo('axios') as Axios;
const originalAdapter = axios.defaults.adapter;
let emulator: PlivoEmulator;
let gateway: GatewayFake;
let posts = 0;

beforeAll(async () => {
  gateway = await startGatewayFake();
  emulator = await startPlivoEmulator({
    ...CREDENTIALS,
    personas: [{ kind: 'tone', name: 'P', number: '*', dialMs: 0, ringMs: 20 }],
  });
  const http = axios.getAdapter('http');
  axios.defaults.adapter = (config: { url?: string; method?: string }) => {
    if (config.method === 'post') posts++;
    return http({ ...config, url: (config.url ?? '').replace(PLIVO, emulator.apiBase) });
  };
});

afterAll(async () => {
  axios.defaults.adapter = originalAdapter;
  await emulator.close();
  await gateway.close();
});

afterEach(() => {
  posts = 0;
  gateway.callbacks.length = 0;
});

const client = (authToken = CREDENTIALS.authToken): Client => new Client(CREDENTIALS.authId, authToken);

function placeBySdk(sdk: Client): Promise<{ requestUuid: string | string[]; message: string; apiId: string }> {
  const urls = { ringUrl: `${gateway.base}/ring`, hangupUrl: `${gateway.base}/hangup` };
  return sdk.calls.create('15550100000', TO, `${gateway.base}/answer?who=sdk&x=%20y`, {
    answerMethod: 'POST',
    ...urls,
  }) as never;
}

describe('the official package against the emulator', () => {
  it('places a call, finds it live, hangs it up, and validates every callback as we do', async () => {
    const placed = await placeBySdk(client());
    expect(placed.message).toBe('call fired');
    const uuid = String(placed.requestUuid);
    expect(emulator.find(uuid)).not.toBeNull();
    await gateway.nextSocket();
    const live = (await client().calls.getLiveCall(uuid)) as unknown as Record<string, unknown>;
    expect(live).toMatchObject({ callStatus: 'in-progress', callUuid: uuid });
    await client().calls.hangup(uuid);
    await gateway.seen('hangup');
    await gateway.seen('stream', 2);
    expect(gateway.callbacks.map((callback) => callback.kind).sort()).toEqual([
      'answer',
      'hangup',
      'ring',
      'stream',
      'stream',
    ]);
    for (const { method, url, params, headers } of gateway.callbacks) {
      const signature = headers['x-plivo-signature-v3']!;
      const nonce = headers['x-plivo-signature-v3-nonce']!;
      expect(validateV3Signature(method, url, nonce, CREDENTIALS.authToken, signature, { ...params })).toBe(true);
      expect(validateV3Signature(method, url, nonce, 'another', signature, { ...params })).toBe(false);
      expect(verifyV3(CREDENTIALS.authToken, { method: method as 'POST', url, params }, headers)).toBe(true);
      expect(verifyV3('another', { method: method as 'POST', url, params }, headers)).toBe(false);
    }
    const [upgrade] = gateway.upgrades;
    const { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': nonce } = upgrade!.headers;
    expect(validateV3Signature('GET', upgrade!.url, nonce!, CREDENTIALS.authToken, signature!)).toBe(true);
    expect(verifyUpgradeV3(CREDENTIALS.authToken, upgrade!.url, upgrade!.headers)).toBe(true);
  });

  it('is refused with 401 for a wrong token, and with 400 and the reason for a bad number', async () => {
    await expect(placeBySdk(client('wrong'))).rejects.toMatchObject({ status: 401 });
    const refused = client().calls.create('15550100000', 'nobody', `${gateway.base}/answer`, {});
    await expect(refused).rejects.toMatchObject({ status: 400, message: 'to parameter is invalid.' });
  });

  it('posts a placement that is answered 500 three times: it must never place our calls', async () => {
    emulator.setPersonas([
      {
        kind: 'silent',
        name: 'dials anyway',
        number: `+${TO}`,
        faults: { placement: { kind: 'status', httpStatus: 500, dials: true } },
      },
    ]);
    const before = emulator.calls().length;
    await expect(placeBySdk(client())).rejects.toMatchObject({ status: 500 });
    expect(posts).toBe(3);
    expect(emulator.calls().length - before).toBe(3);
  });
});
