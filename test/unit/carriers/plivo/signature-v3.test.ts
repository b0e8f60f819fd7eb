import fc from 'fast-check';
import { validateV3Signature } from 'plivo';
import { describe, expect, it } from 'vitest';
import { signatureOf, signV3, verifyUpgradeV3, verifyV3 } from '../../../../src/carriers/plivo/signature-v3.ts';

const OFFICIAL_TOKEN = 'Y2Q2ZDgxZmY5YWRiOTI5YmQ1Njg0MTAxZWIyOTc4';
const OFFICIAL_NONCE = '31627761595286130198';
const ID = '3e82ae9d-2c78-4d85-b1a4-6eae7dbafb36';
const OFFICIAL_PARAMS = {
  Direction: 'outbound',
  From: '19792014278',
  ALegUUID: ID,
  ALegRequestUUID: ID,
  CallUUID: ID,
  RequestUUID: ID,
  CallStatus: 'in-progress',
  BillRate: '0.002',
  ParentAuthID: 'MANWVLYTK4ZWU1YTY4QA',
  To: 'sip:PlivoSignature382029104058171078704104@phone-qa.voice.plivodev.com',
  'SIP-H-To': '<sip:PlivoSignature382029104058171078704104@52.9.11.55;transport=udp>;tag=1',
  SessionStart: '2020-04-08 11:34:33.238707',
  Event: 'StartApp',
};
const OFFICIAL_URL = 'https://plivobin.non-prod.plivops.com/api/v1/validate_signature03.xml';
const TOKEN = 'my_auth_token';
const HANGUP = { CallUUID: 'c1', Event: 'Hangup' };

const vectors: [string, string, 'GET' | 'POST', string, Record<string, string>, string, string][] = [
  [
    OFFICIAL_TOKEN,
    OFFICIAL_NONCE,
    'POST',
    `${OFFICIAL_URL}/?a=b&c=d`,
    OFFICIAL_PARAMS,
    'k7Pusd4OxCIjR5IfA9iedDNu/h/gbdYqdzG/MiYtd1c=',
    'official',
  ],
  [
    OFFICIAL_TOKEN,
    OFFICIAL_NONCE,
    'GET',
    `${OFFICIAL_URL}/?a=b&c=d`,
    OFFICIAL_PARAMS,
    'UBq8jAtd32wR8EK9VgxbBn4n5rpI/l1H9iN4WfSEHFQ=',
    'official',
  ],
  [
    OFFICIAL_TOKEN,
    OFFICIAL_NONCE,
    'POST',
    OFFICIAL_URL,
    OFFICIAL_PARAMS,
    'iAjE5QqI37mbkYe4w3jTMudqEzbDufdqi7sYwTu64e0=',
    'official',
  ],
  [
    OFFICIAL_TOKEN,
    OFFICIAL_NONCE,
    'GET',
    OFFICIAL_URL,
    OFFICIAL_PARAMS,
    'i/MQsaQSAd6fiKhOh2qeeeLHZ9faldADSb3/7+Akfbc=',
    'official',
  ],
  [
    TOKEN,
    '12345',
    'POST',
    'https://gw.example.com/cb',
    HANGUP,
    'FzqJRlcub7Qx36njMO0EzSkWJjBwCVxBfa88LNYbp7Q=',
    'short',
  ],
  [
    TOKEN,
    '12345',
    'POST',
    'https://gw.example.com/cb?a=1',
    HANGUP,
    'v+JLdyQFW4+j5hlY8E6iplDZAfnEFeLrsMSqSoYWB9w=',
    'short',
  ],
  [
    TOKEN,
    '12345',
    'GET',
    'https://gw.example.com/ws/plivo?call=abc&token=s3cret',
    {},
    'Pf5jNaiiFNIE/Pl/l91MFEFq7M+aL98nVwfEPR2B9u0=',
    'short',
  ],
  [
    TOKEN,
    '12345',
    'GET',
    'wss://gw.example.com/ws/plivo?call=abc&token=s3cret',
    {},
    'lqocERZXQA6SRlVCaJFmmeYW4KJFk7SrTNx81yHvT9k=',
    'short',
  ],
];

function headersWith(signature: string, nonce = '12345'): Record<string, string> {
  return { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': nonce };
}

describe('Plivo V3 signature', () => {
  it.each(vectors)(
    'with token %s and nonce %s signs %s %s as published',
    (token, nonce, method, url, params, signature) => {
      expect(signV3(token, { method, url, params }, nonce)).toBe(signature);
      expect(verifyV3(token, { method, url, params }, headersWith(signature, nonce))).toBe(true);
    },
  );

  it('agrees with the official package on 300 random requests, and so does the package with ours', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
    const value = fc.stringMatching(/^[ -~]{0,20}$/);
    fc.assert(
      fc.property(
        fc.constantFrom('GET' as const, 'POST' as const),
        fc.constantFrom('https://gw.example.com/carriers/plivo/x/ring', 'https://gw.example.com:8443/a/b?z=1&a=2&z=0'),
        fc.dictionary(name, value, { maxKeys: 8 }),
        fc.stringMatching(/^[0-9]{1,20}$/),
        (method, url, params, nonce) => {
          const signature = signV3(TOKEN, { method, url, params }, nonce);
          expect(validateV3Signature(method, url, nonce, TOKEN, signature, { ...params })).toBe(true);
        },
      ),
      { numRuns: 300, seed: 20261121 },
    );
  });

  it('accepts the right one among three comma-separated signatures, with spaces', () => {
    const right = 'FzqJRlcub7Qx36njMO0EzSkWJjBwCVxBfa88LNYbp7Q=';
    const request = { method: 'POST' as const, url: 'https://gw.example.com/cb', params: HANGUP };
    expect(verifyV3(TOKEN, request, headersWith(`AAAA, v+JLdyQFW4+j5hlY8E6iplDZAfnEFeLrsMSqSoYWB9w= ,${right}`))).toBe(
      true,
    );
    expect(verifyV3(TOKEN, request, headersWith('AAAA, v+JLdyQFW4+j5hlY8E6iplDZAfnEFeLrsMSqSoYWB9w='))).toBe(false);
  });

  it('accepts the main-account header when the line has the main account', () => {
    const request = { method: 'POST' as const, url: 'https://gw.example.com/cb', params: HANGUP };
    const headers = {
      'x-plivo-signature-v3': signV3('subaccount', request, '12345'),
      'x-plivo-signature-ma-v3': signV3(TOKEN, request, '12345'),
      'x-plivo-signature-v3-nonce': '12345',
    };
    expect(verifyV3(TOKEN, request, headers)).toBe(true);
    expect(verifyV3('another', request, headers)).toBe(false);
  });

  it('is the same for each copy of a request, however its headers are dressed up, and another for every other', () => {
    const request = { method: 'POST' as const, url: 'https://gw.example.com/cb', params: HANGUP };
    const right = signV3(TOKEN, request, '12345');
    const copies = [
      headersWith(right),
      headersWith(`AAAA,${right}`),
      { ...headersWith('x'), 'x-plivo-signature-ma-v3': right },
    ];
    for (const headers of copies) {
      expect(verifyV3(TOKEN, request, headers)).toBe(true);
      expect(signatureOf(TOKEN, request, headers)).toBe(right);
    }
    expect(signatureOf(TOKEN, request, headersWith(right, '12346'))).not.toBe(right);
    expect(signatureOf(TOKEN, { ...request, params: {} }, headersWith(right))).not.toBe(right);
  });

  it('refuses a missing nonce, a missing signature, an empty token and a changed parameter', () => {
    const request = { method: 'POST' as const, url: 'https://gw.example.com/cb', params: HANGUP };
    const signature = signV3(TOKEN, request, '12345');
    expect(verifyV3(TOKEN, request, { 'x-plivo-signature-v3': signature })).toBe(false);
    expect(verifyV3(TOKEN, request, { 'x-plivo-signature-v3-nonce': '12345' })).toBe(false);
    expect(verifyV3('', request, headersWith(signV3('', request, '12345')))).toBe(false);
    expect(verifyV3(TOKEN, { ...request, params: { ...HANGUP, CallUUID: 'c2' } }, headersWith(signature))).toBe(false);
    expect(verifyV3(TOKEN, request, headersWith(signature, '12346'))).toBe(false);
  });

  it('never throws on random headers, and never accepts them', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (url, signature, nonce) => {
          expect(verifyV3(TOKEN, { method: 'POST', url, params: {} }, headersWith(signature, nonce))).toBe(false);
          expect(verifyUpgradeV3(TOKEN, url, headersWith(signature, nonce))).toBe(false);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe('Plivo media socket upgrade', () => {
  const https = headersWith('Pf5jNaiiFNIE/Pl/l91MFEFq7M+aL98nVwfEPR2B9u0=');
  const wss = headersWith('lqocERZXQA6SRlVCaJFmmeYW4KJFk7SrTNx81yHvT9k=');
  it.each(['https', 'wss'])('known to us as %s matches a signature over https and one over wss', (scheme) => {
    const url = `${scheme}://gw.example.com/ws/plivo?call=abc&token=s3cret`;
    expect(verifyUpgradeV3(TOKEN, url, https)).toBe(true);
    expect(verifyUpgradeV3(TOKEN, url, wss)).toBe(true);
  });

  it('on plain http matches ws and http, and not https', () => {
    const url = 'ws://127.0.0.1:8080/media/plivo/token';
    for (const scheme of ['ws', 'http']) {
      const signed = { method: 'GET' as const, url: `${scheme}://127.0.0.1:8080/media/plivo/token`, params: {} };
      expect(verifyUpgradeV3(TOKEN, url, headersWith(signV3(TOKEN, signed, '12345')))).toBe(true);
    }
    const secure = { method: 'GET' as const, url: 'https://127.0.0.1:8080/media/plivo/token', params: {} };
    expect(verifyUpgradeV3(TOKEN, url, headersWith(signV3(TOKEN, secure, '12345')))).toBe(false);
  });

  it('refuses the signature of another path', () => {
    expect(verifyUpgradeV3(TOKEN, 'wss://gw.example.com/ws/plivo?call=abc&token=other', wss)).toBe(false);
  });
});
