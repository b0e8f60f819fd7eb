/**
 * Twilio as the stream target needs it: X-Twilio-Signature, TwiML, the fields of the request for it. Chosen by
 * `protocols.ts`.
 */
import { createHmac } from 'node:crypto';
import { InvalidDocumentError, parseXml, type XmlElement } from '../../../../emulators/xml-document.ts';
import type { CarrierProtocol, SignedRequest, Step } from '../wire.ts';
import { ACCOUNT_SID, newSid } from './sids.ts';
import { TwilioWire } from './twilio-wire.ts';

export const twilioProtocol: CarrierProtocol = {
  name: 'Twilio Media Streams',
  targetEvents: ['media', 'mark', 'clear'],
  newCallId: () => newSid('CA'),
  createWire: (options) => new TwilioWire(options),
  signatureOf: (request, authToken) => ({ 'x-twilio-signature': signatureOf(request, authToken) }),
  answerParams: (callId) => ({
    AccountSid: ACCOUNT_SID,
    ApiVersion: '2010-04-01',
    CallSid: callId,
    CallStatus: 'in-progress',
    Direction: 'inbound',
    From: '+14155550123',
    To: '+14155550100',
  }),
  readDocument(xml) {
    const root = parseXml(xml);
    if (root.name !== 'Response') throw new InvalidDocumentError(`the root element is <${root.name}>, not <Response>`);
    return root.children.flatMap(stepsOf);
  },
};

/** HMAC-SHA1 over the URL and, sorted by name, each field's name and value. */
function signatureOf({ url, params }: SignedRequest, authToken: string): string {
  const fields = Object.keys(params).sort();
  const text = fields.reduce((all, name) => all + name + params[name], url);
  return createHmac('sha1', authToken).update(text, 'utf8').digest('base64');
}

/** What is said or played to the far end is passed over, as is a stream of one direction. */
function stepsOf({ name, attributes, text, children }: XmlElement): Step[] {
  switch (name) {
    case 'Connect':
      return children.filter((child) => child.name === 'Stream').map(streamOf);
    case 'Pause':
      return [{ step: 'wait', seconds: Number(attributes['length'] ?? 1) || 0 }];
    case 'Redirect':
      return [{ step: 'redirect', url: text.trim(), method: attributes['method'] === 'GET' ? 'GET' : 'POST' }];
    case 'Hangup':
    case 'Reject':
      return [{ step: 'hang-up' }];
    default:
      return [];
  }
}

function streamOf({ attributes, children }: XmlElement): Step {
  const url = attributes['url'] ?? '';
  if (!/^wss?:\/\//.test(url)) throw new InvalidDocumentError('the url of its <Stream> is not ws or wss');
  const parameters: Record<string, string> = {};
  for (const child of children) {
    const { name, value } = child.attributes;
    if (child.name === 'Parameter' && name !== undefined) parameters[name] = value ?? '';
  }
  // Twilio does not send the query of a Stream's url; a bot that counts on it would work here alone.
  return { step: 'stream', url: url.split('?', 1)[0]!, parameters };
}
