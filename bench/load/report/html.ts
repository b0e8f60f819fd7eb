/**
 * HTML that is safe by how it is made: what is put into a template is escaped, unless it is HTML itself. The names,
 * codes and reasons of a result are foreign text; none of it is ever put together by hand.
 */

/** Made by `html` alone. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | false | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((text, at) => text + (at < parts.length ? textOf(parts[at]!) : '')).join(''));
}

function textOf(part: Part): string {
  if (part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(String(part));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Also without the characters that no document may hold, and those that turn the direction of text. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (letter) => ENTITIES[letter]!)
    .replace(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu, '�');
}

/** For a script element that holds data: nothing in it can end the element or begin a comment. */
export function dataIn(value: unknown): Html {
  return new Html(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}

/** Script and style of our own or of a package, as they are; `</script` inside a text becomes `<\/script`. */
export function scriptText(code: string): string {
  return code
    .replace(/\r\n?/g, '\n')
    .replace(/<\/(?=script)/gi, '<\\/')
    .replace(/<!--/g, '<\\!--');
}

/** What was made by `scriptText`, or stands in a style sheet. */
export const trusted = (text: string): Html => new Html(text);
