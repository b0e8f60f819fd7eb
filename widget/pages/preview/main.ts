/**
 * The widget as visitors would see it, without a call: its own button and panel, with a host that only pretends. The
 * console shows this page in a frame and tells it each look that its reader tries.
 */
import type { WidgetAppearance } from '../../../media/contract/widget-appearance.ts';
import type { EventName, PanelHost } from '../../contract/ports.ts';
import { style } from '../../panel/elements.ts';
import { createFloatButton } from '../../panel/float-button.ts';
import { applyLook, lookOf } from '../../panel/look.ts';
import { createOverlay } from '../../panel/overlay.ts';
import css from '../../panel/panel.css';

type State = 'idle' | 'live' | 'over' | 'error';
interface Told {
  type: 'look';
  look: WidgetAppearance;
  state: State;
  said: { role: 'agent' | 'user'; text: string }[];
}

const holder = document.createElement('div');
const root = holder.attachShadow({ mode: 'open' });
document.getElementById('preview')!.append(holder);

function draw({ look: shown, state, said }: Told): void {
  const look = lookOf(shown);
  const handlers: [EventName, (payload: never) => void][] = [];
  const emit = (name: EventName, payload: unknown): void => {
    for (const [of, handler] of handlers) if (of === name) handler(payload as never);
  };
  const nothing = (): void => {};
  const host: PanelHost = {
    config: { base: '', publicKey: '', agentId: '', codec: '', title: '', panel: shown.panel, nonce: '' },
    on(name, handler) {
      handlers.push([name, handler]);
      return nothing;
    },
    start: nothing,
    close: nothing,
    end: nothing,
    mute: nothing,
    sendText: (text) => emit('transcript', { role: 'user', turnId: 't9', text, final: true }),
  };
  root.replaceChildren();
  style(root, css, '');
  applyLook(holder, look);
  // Docked, whatever it is to be: a modal would hide the button, and is as wide as the frame.
  const overlay = shown.panel === 'none' ? null : createOverlay(host, look, true);
  if (overlay !== null) root.append(overlay.element);
  root.append(...createFloatButton(host, look));
  if (state !== 'idle') {
    overlay?.show();
    emit('status', { status: 'connecting' });
    emit('status', { status: 'connected' });
    emit('state', { state: 'speaking' });
    emit('level', { who: 'agent', level: 0.12 });
    for (const [at, { role, text }] of said.entries()) {
      emit('transcript', { role, turnId: `t${at + 1}`, text, final: true });
    }
  }
  if (state === 'over') emit('status', { status: 'disconnected', reason: 'user_hangup' });
  if (state === 'error') emit('status', { status: 'error', code: 'origin_not_allowed' });
}

addEventListener('message', ({ origin, source, data }: MessageEvent<Told>) => {
  if (origin === location.origin && source === parent && data?.type === 'look') draw(data);
});
parent.postMessage({ type: 'ready' }, location.origin);
