/**
 * Plivo as the stream target needs it: V3 signatures, the answer XML, the fields of the request for it. Chosen by
 * `protocols.ts`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { signV3 } from '../../../../../src/carriers/plivo/signature-v3.ts';
import { parseAnswerDocument, type Verb } from '../../../../emulators/plivo/answer-document.ts';
import { InvalidDocumentError } from '../../../../emulators/xml-document.ts';
import type { CarrierProtocol, Step } from '../wire.ts';
import { ACCOUNT_ID, PlivoWire } from './plivo-wire.ts';

const MULAW = 'audio/x-mulaw;rate=8000';

export const plivoProtocol: CarrierProtocol = {
  name: 'Plivo audio streaming',
  targetEvents: ['playAudio', 'checkpoint', 'clearAudio', 'sendDTMF'],
  newCallId: () => randomUUID(),
  createWire: (options) => new PlivoWire(options),
  signatureOf(request, authToken) {
    const nonce = randomBytes(10).toString('hex');
    // Of a socket's upgrade Plivo's documents sign the address that is dialled, its SDK the https form of it: both
    // count, and the header may hold several.
    const urls = [...new Set([request.url, request.url.replace(/^ws/, 'http')])];
    const signature = urls.map((url) => signV3(authToken, { ...request, url }, nonce)).join(',');
    return {
      'x-plivo-signature-v3': signature,
      'x-plivo-signature-ma-v3': signature,
      'x-plivo-signature-v3-nonce': nonce,
    };
  },
  answerParams: (callId) => ({
    ALegRequestUUID: callId,
    ALegUUID: callId,
    CallStatus: 'in-progress',
    CallUUID: callId,
    Direction: 'inbound',
    Event: 'StartApp',
    From: '14155550123',
    ParentAuthID: ACCOUNT_ID,
    To: '14155550100',
  }),
  readDocument: (xml) => parseAnswerDocument(xml).flatMap(stepOf),
};

function stepOf(verb: Verb): Step[] {
  switch (verb.verb) {
    case 'stream':
      if (!verb.bidirectional) throw new InvalidDocumentError('its <Stream> is not bidirectional="true"');
      if (verb.contentType.replace(/\s/g, '') !== MULAW) {
        throw new InvalidDocumentError(
          `its <Stream> is ${verb.contentType}; the tool plays contentType="${MULAW}" alone, and without one Plivo takes L16`,
        );
      }
      return [{ step: 'stream', url: verb.url, parameters: parametersOf(verb.extraHeaders) }];
    case 'wait':
      return [{ step: 'wait', seconds: verb.seconds }];
    case 'redirect':
      return [{ step: 'redirect', url: verb.url, method: verb.method }];
    case 'hangup':
      return [{ step: 'hang-up' }];
    default:
      return [];
  }
}

/** `a=b,c=d`, or with semicolons. */
function parametersOf(extraHeaders: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const pair of extraHeaders.split(/[,;]/)) {
    const equals = pair.indexOf('=');
    if (equals > 0) parameters[pair.slice(0, equals).trim()] = pair.slice(equals + 1).trim();
  }
  return parameters;
}
