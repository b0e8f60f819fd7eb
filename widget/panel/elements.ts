/** Elements without markup: no innerHTML, so that Trusted Types and the strictest policy have nothing to object to. */

type Attributes = Record<string, string | boolean>;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A line drawing of 24 × 24. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

export const MICROPHONE = 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3ZM5 11a7 7 0 0 0 14 0M12 18v3';
export const HANG_UP = 'M3 14c0-2 4-5 9-5s9 3 9 5v2.5l-5-1V12.600a14 14 0 0 0-8 0V15.500l-5 1Z';
export const VOICE = 'M4 10v4M8 7v10M12 4v16M16 7v10M20 10v4';
export const CROSS = 'M6 6l12 12M18 6 6 18';
export const SEND = 'M4 12 20 4l-5 16-3.5-6.500Z';
export const COPY = 'M9 9h11v11H9ZM5 15H4V4h11v1';
export const CAPTIONS = 'M4 6h16v12H4ZM8 11h2M8 14h5M13 11h3M16 14h0';

/** Style without a style attribute or element where the browser can; else an element with the page's nonce. */
export function style(root: ShadowRoot, css: string, nonce: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
  } catch {
    const fallback = element('style', nonce ? { nonce } : {});
    fallback.textContent = css;
    root.append(fallback);
  }
}
