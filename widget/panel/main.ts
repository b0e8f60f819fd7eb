/**
 * Entry of the panel: the modal and the floating button, in one closed shadow root that neither reads the page's style
 * nor leaks its own. Hands itself to the script element that loaded it (`loader/parts.ts`).
 */
import type { Panel, PanelHost, PanelModule } from '../contract/ports.ts';
import { element, style } from './elements.ts';
import { createFloatButton } from './float-button.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import css from './panel.css';

function createPanel(host: PanelHost): Panel {
  const holder = element('div', { 'data-service-voice': true });
  const root = holder.attachShadow({ mode: 'closed' });
  style(root, css, host.config.nonce);
  let overlay: Overlay | null = null;
  let hasButton = false;

  /** A page that replaced its body has thrown us out with it. */
  function present(): void {
    if (!holder.isConnected) document.body.append(holder);
  }

  return {
    show() {
      present();
      if (overlay === null) {
        overlay = createOverlay(host);
        root.append(overlay.element);
      }
      overlay.show();
    },
    hide: () => overlay?.hide(),
    showButton() {
      present();
      if (hasButton) return;
      hasButton = true;
      root.append(...createFloatButton(host));
    },
  };
}

const script = document.currentScript as (HTMLScriptElement & { deliver?(panel: PanelModule): void }) | null;
script?.deliver?.({ createPanel });
