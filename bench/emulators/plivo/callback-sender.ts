/**
 * Sends the emulated carrier's signed form callbacks. Called by the emulated call. Signs each request anew with a fresh
 * nonce, exactly the URL that it dials; the fragment, where Plivo takes its client's settings from, is neither sent nor
 * signed.
 */
import { type Dispatcher, request } from 'undici';
import { signV3 } from '../../../src/carriers/plivo/signature-v3.ts';

export interface CallbackAnswer {
  status: number;
  contentType: string;
  body: string;
}

export interface CallbackSender {
  /** Rejects when no answer came within `timeoutMs`. */
  send(
    method: 'GET' | 'POST',
    url: string,
    params: Record<string, string>,
    signature: 'right' | 'wrong' | 'none',
    timeoutMs: number,
  ): Promise<CallbackAnswer>;
  /** Headers that sign the media socket's upgrade request. */
  upgradeHeaders(url: string): Record<string, string>;
}

export interface CallbackSenderOptions {
  authToken: string;
  dispatcher: Dispatcher;
  newNonce(): string;
  /** Plivo's SDK checks the upgrade over the https form of the URL, its documentation over the dialled one. */
  upgradeSignedAs: 'dialled' | 'https';
}

const MAX_BODY_BYTES = 1_048_576;

export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  function signatureHeaders(token: string, method: 'GET' | 'POST', url: string, params: Record<string, string>) {
    const nonce = options.newNonce();
    const signature = signV3(token, { method, url, params }, nonce);
    return {
      'x-plivo-signature-v3': signature,
      'x-plivo-signature-ma-v3': signature,
      'x-plivo-signature-v3-nonce': nonce,
    };
  }

  return {
    async send(method, url, params, signature, timeoutMs) {
      const target = new URL(url);
      target.hash = '';
      if (method === 'GET') for (const [name, value] of Object.entries(params)) target.searchParams.append(name, value);
      const dialled = method === 'GET' ? target.href : (url.split('#', 1)[0] ?? url);
      const token = signature === 'wrong' ? `${options.authToken}x` : options.authToken;
      const signed =
        signature === 'none' ? {} : signatureHeaders(token, method, dialled, method === 'GET' ? {} : params);
      const response = await request(dialled, {
        method,
        dispatcher: options.dispatcher,
        signal: AbortSignal.timeout(timeoutMs),
        headers: { 'user-agent': 'plivo-emulator', ...signed, ...(method === 'POST' ? FORM : {}) },
        body: method === 'POST' ? new URLSearchParams(params).toString() : null,
      });
      const body = await response.body.text();
      return {
        status: response.statusCode,
        contentType: String(response.headers['content-type'] ?? ''),
        body: body.slice(0, MAX_BODY_BYTES),
      };
    },
    upgradeHeaders(url) {
      const signedUrl = options.upgradeSignedAs === 'https' ? url.replace(/^ws/, 'http') : url;
      return signatureHeaders(options.authToken, 'GET', signedUrl, {});
    },
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
