/**
 * Reads the XML that an answer, transfer or redirect URL gave, as strictly as a carrier does: one `<Response>` with
 * known verbs, else it is invalid. Called by the emulated call; pure.
 */
import { InvalidDocumentError, parseXml, type XmlElement } from '../xml-document.ts';

export interface StreamVerb {
  verb: 'stream';
  url: string;
  bidirectional: boolean;
  keepCallAlive: boolean;
  contentType: string;
  statusUrl: string | null;
  statusMethod: 'GET' | 'POST';
  streamTimeoutSeconds: number;
  extraHeaders: string;
}

export type Verb =
  | StreamVerb
  | { verb: 'hangup' }
  | { verb: 'speak'; text: string }
  | { verb: 'wait'; seconds: number }
  | { verb: 'redirect'; url: string; method: 'GET' | 'POST' }
  /** Known to the carrier, not played by the emulator: logged and passed over. */
  | { verb: 'unplayed'; name: string };

const UNPLAYED = new Set([
  'Play',
  'Record',
  'Dial',
  'GetDigits',
  'GetInput',
  'Conference',
  'PreAnswer',
  'DTMF',
  'MultiPartyCall',
  'AudioStream',
  'Message',
]);
const MAX_STREAM_URL_CHARS = 2048;
const STREAM_TIMEOUT_SECONDS = 86_400;

export function parseAnswerDocument(xml: string): Verb[] {
  const root = parseXml(xml);
  if (root.name !== 'Response') throw new InvalidDocumentError(`the root element is <${root.name}>, not <Response>`);
  return root.children.map(verbOf);
}

function verbOf(element: XmlElement): Verb {
  const { attributes } = element;
  const text = element.text.trim();
  switch (element.name) {
    case 'Stream':
      if (!/^wss?:\/\//.test(text)) throw new InvalidDocumentError('the URL of <Stream> is not ws or wss');
      if (text.length > MAX_STREAM_URL_CHARS) throw new InvalidDocumentError('the URL of <Stream> is too long');
      return {
        verb: 'stream',
        url: text,
        bidirectional: attributes['bidirectional'] === 'true',
        keepCallAlive: attributes['keepCallAlive'] === 'true',
        contentType: attributes['contentType'] ?? 'audio/x-l16;rate=8000',
        statusUrl: attributes['statusCallbackUrl'] ?? null,
        statusMethod: methodOf(attributes['statusCallbackMethod']),
        streamTimeoutSeconds: numberOf(attributes['streamTimeout'], STREAM_TIMEOUT_SECONDS),
        extraHeaders: attributes['extraHeaders'] ?? '',
      };
    case 'Hangup':
      return { verb: 'hangup' };
    case 'Speak':
      return { verb: 'speak', text };
    case 'Wait':
      return { verb: 'wait', seconds: numberOf(attributes['length'], 1) };
    case 'Redirect':
      return { verb: 'redirect', url: text, method: methodOf(attributes['method']) };
    default:
      if (UNPLAYED.has(element.name)) return { verb: 'unplayed', name: element.name };
      throw new InvalidDocumentError(`<${element.name}> is no element of an answer document`);
  }
}

function methodOf(value: string | undefined): 'GET' | 'POST' {
  return value?.toUpperCase() === 'GET' ? 'GET' : 'POST';
}

function numberOf(value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0) throw new InvalidDocumentError(`"${value}" is not a number of seconds`);
  return number;
}
