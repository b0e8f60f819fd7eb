/**
 * Where a call's stream is to be dialled: the address that was given, or what the answer document says, which is asked
 * for and followed as the carrier would. Called by the stream call once the phone is answered.
 */
import { type Dispatcher, request } from 'undici';
import { type Clock, pause } from '../../../../media/contract/clock.ts';
import { InvalidDocumentError } from '../../../emulators/xml-document.ts';
import { CallFault, connectionFault } from './call-fault.ts';
import { PROTOCOLS } from './protocols.ts';
import type { StreamPlan } from './stream-plan.ts';
import type { CarrierProtocol } from './wire.ts';

export interface FoundStream {
  url: string;
  parameters: Record<string, string>;
  /** When the first document had come; null: there is none. */
  documentAtMs: number | null;
}

const DOCUMENT_TIMEOUT_MS = 15_000;
const MOST_DOCUMENTS = 10;
const LONGEST_DOCUMENT_BYTES = 65_536;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export interface FindDeps {
  clock: Clock;
  dispatcher: Dispatcher;
  /** Aborted when the call is over. */
  signal: AbortSignal;
}

/** Rejects with a `CallFault`. */
export async function findStream(plan: StreamPlan, callId: string, deps: FindDeps): Promise<FoundStream> {
  const { address, parameters } = plan;
  if ('streamUrl' in address) return { url: address.streamUrl, parameters: { ...parameters }, documentAtMs: null };
  const protocol = PROTOCOLS[plan.protocol];
  let next: { url: string; method: 'GET' | 'POST' } = { url: address.answerUrl, method: address.answerMethod };
  let documentAtMs: number | null = null;
  for (let documents = 0; documents < MOST_DOCUMENTS; documents++) {
    const xml = await fetchDocument(next, plan, protocol, callId, deps);
    documentAtMs ??= deps.clock.nowMs();
    let redirect: typeof next | null = null;
    for (const step of stepsOf(xml, protocol, next.url)) {
      if (step.step === 'stream') return { ...step, parameters: { ...parameters, ...step.parameters }, documentAtMs };
      if (step.step === 'hang-up') {
        throw new CallFault('refused', 'hangup', `the document of ${next.url} hangs up before it streams`);
      }
      if (step.step === 'wait') await pause(deps.clock, step.seconds * 1_000, deps.signal);
      else {
        redirect = { url: new URL(step.url, next.url).href, method: step.method };
        break;
      }
    }
    if (redirect === null) {
      throw new CallFault('failed', 'no_stream', `the document of ${next.url} holds no stream of both directions`);
    }
    next = redirect;
  }
  throw new CallFault('failed', 'redirects', `${MOST_DOCUMENTS} documents redirected to one another`);
}

function stepsOf(xml: string, protocol: CarrierProtocol, url: string): ReturnType<CarrierProtocol['readDocument']> {
  try {
    return protocol.readDocument(xml);
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    throw new CallFault(
      'failed',
      'document',
      `the document of ${url} is none that the carrier follows: ${error.message}`,
    );
  }
}

async function fetchDocument(
  { url, method }: { url: string; method: 'GET' | 'POST' },
  { headers, authToken }: StreamPlan,
  protocol: CarrierProtocol,
  callId: string,
  { dispatcher, signal }: FindDeps,
): Promise<string> {
  const fields = protocol.answerParams(callId);
  const target = new URL(url);
  target.hash = '';
  if (method === 'GET') for (const [name, value] of Object.entries(fields)) target.searchParams.append(name, value);
  const params = method === 'POST' ? fields : {};
  const signature = authToken === null ? {} : protocol.signatureOf({ method, url: target.href, params }, authToken);
  let status: number;
  let text = '';
  try {
    const response = await request(target.href, {
      method,
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(DOCUMENT_TIMEOUT_MS)]),
      headers: { ...headers, ...signature, ...(method === 'POST' ? FORM : {}) },
      body: method === 'POST' ? new URLSearchParams(params).toString() : null,
    });
    status = response.statusCode;
    for await (const chunk of response.body) {
      text += String(chunk);
      if (text.length > LONGEST_DOCUMENT_BYTES) throw new Error(`it is longer than ${LONGEST_DOCUMENT_BYTES} bytes`);
    }
  } catch (error) {
    throw connectionFault(error, url);
  }
  if (status === 200) return text;
  throw new CallFault('refused', String(status), `${url} answered ${status} instead of a document`);
}
