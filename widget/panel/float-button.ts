/** The button at the page's corner, for pages that bring no target of their own: one click talks, the next hangs up. */
import type { PanelHost, StatusEvent } from '../contract/ports.ts';
import { element, HANG_UP, icon, VOICE } from './elements.ts';

export function createFloatButton(host: PanelHost): HTMLElement[] {
  const label = document.createElement('span');
  const button = element('button', { type: 'button', class: 'float' }, icon(VOICE), label);
  const say = element('div', { class: 'say', role: 'status', lang: 'en' });
  let isLive = false;

  function look(words: string, isEnd: boolean, told: string): void {
    isLive = isEnd;
    label.textContent = words;
    button.classList.toggle('end', isEnd);
    button.replaceChild(icon(isEnd ? HANG_UP : VOICE), button.firstChild!);
    say.textContent = told;
  }

  host.on('status', (event: StatusEvent) => {
    if (event.status === 'connecting' && event.reason === 'resuming') look('Hang up', true, 'Reconnecting…');
    else if (event.status === 'connecting') look('Cancel', true, 'Connecting…');
    else if (event.status === 'connected') look('Hang up', true, '');
    else look('Talk', false, event.message ?? '');
  });
  host.on('warning', ({ code, message }: { code: string; message: string }) => {
    if (code === 'mic_lost' || code === 'mic_found') say.textContent = code === 'mic_lost' ? message : '';
  });
  button.addEventListener('click', () => (isLive ? host.end() : host.start()));
  look('Talk', false, '');
  return [button, say];
}
