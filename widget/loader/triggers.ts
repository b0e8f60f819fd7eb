/**
 * Which clicks start a call: one listener in the capture phase on the document, so that elements which come later, go
 * away, or live in open shadow roots need no care, and a page that stops propagation loses nothing. Elements that are
 * no buttons answer Enter and Space.
 */

export interface Triggers {
  /** A selector that does not parse is reported and ignored. */
  add(selector: string, act: (element: Element) => void): void;
}

/** `nearby` is told when a pointer or focus comes near a target: time to load. */
export function createTriggers(nearby: () => void): Triggers {
  const targets: { selector: string; act: (element: Element) => void }[] = [];

  function targetOf(event: Event): { element: Element; act: (element: Element) => void } | null {
    for (const node of event.composedPath()) {
      if (!(node instanceof Element)) continue;
      for (const { selector, act } of targets) if (node.matches(selector)) return { element: node, act };
    }
    return null;
  }

  document.addEventListener('click', (event) => act(targetOf(event)), true);
  document.addEventListener(
    'keydown',
    (event) => {
      if ((event.key !== 'Enter' && event.key !== ' ') || event.repeat) return;
      const found = targetOf(event);
      if (found === null || isOperable(found.element, event)) return;
      event.preventDefault();
      act(found);
    },
    true,
  );
  for (const type of ['pointerover', 'focusin', 'touchstart']) {
    document.addEventListener(type, (event) => targetOf(event) && nearby(), { capture: true, passive: true });
  }
  return {
    add(selector, act) {
      try {
        document.createDocumentFragment().querySelector(selector);
      } catch {
        console.warn(`ServiceVoice: ${JSON.stringify(selector)} is no CSS selector.`);
        return;
      }
      targets.push({ selector, act });
      reachable(selector);
    },
  };
}

/** A fault of ours must not stop the page's own click. */
function act(target: { element: Element; act: (element: Element) => void } | null): void {
  try {
    target?.act(target.element);
  } catch (error) {
    console.warn('ServiceVoice', error);
  }
}

/** The browser makes a click of the key by itself, or the key is meant for a field inside. */
function isOperable(element: Element, event: Event): boolean {
  const native = 'a[href],button,input,select,textarea,summary,[contenteditable]';
  return element.matches(native) || (event.composedPath()[0] as Element).matches(native);
}

/** What is no button gets a role and a place in the tab order, where the page gave none. */
function reachable(selector: string): void {
  for (const element of document.querySelectorAll(selector)) {
    if (element.matches('a[href],button,input,summary')) continue;
    if (!element.hasAttribute('role')) element.setAttribute('role', 'button');
    if (!element.hasAttribute('tabindex')) element.setAttribute('tabindex', '0');
  }
}
