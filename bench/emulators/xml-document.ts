/**
 * XML as strictly as carriers read it: what a document of instructions is made of. Called by the readers of answer
 * documents; pure.
 */

export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: XmlElement[];
}

export class InvalidDocumentError extends Error {
  override name = 'InvalidDocumentError';
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([A-Za-z_][\w.-]*)\s*>|<([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Elements, attributes, text, comments and CDATA; no DTD, no processing instruction but the declaration. Throws an
 * `InvalidDocumentError`.
 */
export function parseXml(xml: string): XmlElement {
  const document: XmlElement = { name: '', attributes: {}, text: '', children: [] };
  const open: XmlElement[] = [document];
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
      const element: XmlElement = { name: opening, attributes: attributesOf(attributes ?? ''), text: '', children: [] };
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
