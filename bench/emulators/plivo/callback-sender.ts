/**
 * Sends the emulated carrier's signed form callbacks. Called by the emulated call. Signs each request anew with a fresh
 * nonce, exactly the URL that it dials; the fragment, where Plivo takes its client's settings from, is neither sent nor
 * signed.
 */
import { type Dispatcher, request } from 'undici';
import { signV3 } from '../../../src/carriers/plivo/signature-v3.ts';
import type { CallbackWays } from '../callbacks-of-call.ts';

export interface CallbackSender extends CallbackWays {
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
/** Plivo's limit for a document. */
const DOCUMENT_TIMEOUT_MS = 15_000;
const CALLBACK_TIMEOUT_MS = 10_000;
const MOST_RETRIES = 5;
const LONGEST_READ_MS = 40_000;

/** `#rt=8000&rc=3` of a callback's URL: read timeout and retries after a connection or an answer that failed. */
function clientSettingsOf(url: string, otherwiseMs: number): { timeoutMs: number; retries: number } {
  const settings = new URLSearchParams(url.split('#', 2)[1] ?? '');
  const readMs = Number(settings.get('rt') ?? otherwiseMs);
  return {
    timeoutMs: readMs > 0 ? Math.min(readMs, LONGEST_READ_MS) : otherwiseMs,
    retries: Math.min(Math.max(0, Math.trunc(Number(settings.get('rc') ?? 0)) || 0), MOST_RETRIES),
  };
}

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
    patience: (kind, url) => clientSettingsOf(url, kind === 'answer' ? DOCUMENT_TIMEOUT_MS : CALLBACK_TIMEOUT_MS),
    eventOf: (params) => params['Event'] ?? '',
    upgradeHeaders(url) {
      const signedUrl = options.upgradeSignedAs === 'https' ? url.replace(/^ws/, 'http') : url;
      return signatureHeaders(options.authToken, 'GET', signedUrl, {});
    },
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
