/**
 * Reads the XML that an answer, transfer or redirect URL gave, as strictly as a carrier does: one `<Response>` with
 * known verbs, else it is invalid. Called by the emulated call; pure.
 */

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

export class InvalidDocumentError extends Error {
  override name = 'InvalidDocumentError';
}

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

interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

export function parseAnswerDocument(xml: string): Verb[] {
  const root = parseXml(xml);
  if (root.name !== 'Response') throw new InvalidDocumentError(`the root element is <${root.name}>, not <Response>`);
  return root.children.map(verbOf);
}

function verbOf(element: Element): Verb {
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

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([A-Za-z_][\w.-]*)\s*>|<([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Elements, attributes, text, comments and CDATA; no DTD, no processing instruction but the declaration. */
function parseXml(xml: string): Element {
  const document: Element = { name: '', attributes: {}, text: '', children: [] };
  const open: Element[] = [document];
  const source = xml.replace(/^\uFEFF?\s*<\?xml[^>]*\?>/, '');
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new InvalidDocumentError(`not well formed at character ${at}`);
    const [, cdata, closing, opening, attributes, selfClosing, text] = match;
    const parent = open.at(-1)!;
    if (cdata !== undefined) parent.text += cdata;
    else if (text !== undefined) parent.text += decodeEntities(text);
    else if (closing !== undefined) {
      if (parent.name !== closing || open.length === 1) throw new InvalidDocumentError(`</${closing}> closes nothing`);
      open.pop();
    } else if (opening !== undefined) {
      const element: Element = { name: opening, attributes: attributesOf(attributes ?? ''), text: '', children: [] };
      parent.children.push(element);
      if (selfClosing === '') open.push(element);
    }
  }
  if (open.length > 1) throw new InvalidDocumentError(`<${open.at(-1)!.name}> is not closed`);
  if (document.children.length !== 1 || document.text.trim() !== '') {
    throw new InvalidDocumentError('there must be one root element and nothing else');
  }
  return document.children[0]!;
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) {
    if (Object.hasOwn(attributes, name!)) throw new InvalidDocumentError(`attribute ${name} stands twice`);
    attributes[name!] = decodeEntities(double ?? single ?? '');
  }
  return attributes;
}

function decodeEntities(text: string): string {
  return text.replace(/&([^;&\s]{0,10});?/g, (whole, name: string) => {
    const code = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name);
    const character = code === null ? ENTITIES[name] : characterOf(code[1], code[2]);
    if (character === undefined || !whole.endsWith(';'))
      throw new InvalidDocumentError('an ampersand that is not escaped');
    return character;
  });
}

function characterOf(hex: string | undefined, decimal: string | undefined): string | undefined {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
