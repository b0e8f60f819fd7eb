/**
 * Entry of the panel: the modal or docked panel and the floating button, in one closed shadow root that neither reads
 * the page's style nor leaks its own. Hands itself to the script element that loaded it (`loader/parts.ts`).
 */
import type { Panel, PanelHost, PanelModule } from '../contract/ports.ts';
import { element, style } from './elements.ts';
import { createFloatButton } from './float-button.ts';
import { applyLook, type Look, readLook } from './look.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import css from './panel.css';

function createPanel(host: PanelHost): Panel {
  const holder = element('div', { 'data-service-voice': true });
  const root = holder.attachShadow({ mode: 'closed' });
  style(root, css, host.config.nonce);
  const looked = readLook(host.config);
  let overlay: Overlay | null = null;
  let hasButton = false;
  let isWanted = false;

  /** A page that replaced its body has thrown us out with it. */
  function present(look: Look): void {
    applyLook(holder, look);
    if (!holder.isConnected) document.body.append(holder);
  }

  return {
    show(isAsked) {
      isWanted = true;
      void looked.then((look) => {
        const kind = host.config.panel === 'auto' ? look.panel : host.config.panel;
        if (!isWanted || (kind === 'none' && !isAsked)) return;
        present(look);
        if (overlay === null) {
          overlay = createOverlay(host, look, kind === 'docked');
          root.prepend(overlay.element);
        }
        overlay.show();
      });
    },
    hide() {
      isWanted = false;
      overlay?.hide();
    },
    showButton() {
      if (hasButton) return;
      hasButton = true;
      void looked.then((look) => {
        present(look);
        root.append(...createFloatButton(host, look));
      });
    },
  };
}

const script = document.currentScript as (HTMLScriptElement & { deliver?(panel: PanelModule): void }) | null;
script?.deliver?.({ createPanel });
