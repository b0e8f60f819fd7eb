/** The button at the page's corner, for pages that bring no target of their own: one click talks, the next hangs up. */
import type { PanelHost, StatusEvent } from '../contract/ports.ts';
import { element, HANG_UP, icon, VOICE } from './elements.ts';
import { faultWords, type Look, pictureOf } from './look.ts';

const PICTURE_PX = 28;

export function createFloatButton(host: PanelHost, look: Look): HTMLElement[] {
  const { words, language } = look;
  const label = document.createElement('span');
  const idle = pictureOf(look, PICTURE_PX) ?? icon(VOICE);
  const button = element('button', { type: 'button', class: 'float' }, idle, label);
  const say = element('div', { class: 'say', role: 'status', lang: language });
  let isLive = false;

  function show(said: string, isEnd: boolean, told: string): void {
    isLive = isEnd;
    label.textContent = said;
    button.classList.toggle('end', isEnd);
    button.replaceChild(isEnd ? icon(HANG_UP) : idle, button.firstChild!);
    say.textContent = told;
  }

  host.on('status', (event: StatusEvent) => {
    if (event.status === 'connecting' && event.reason === 'resuming') show(words.end, true, words.reconnecting);
    else if (event.status === 'connecting') show(words.cancel, true, words.connecting);
    else if (event.status === 'connected') show(words.end, true, '');
    else show(words.talk, false, event.status === 'error' ? faultWords(look, event) : '');
  });
  host.on('warning', ({ code, message }: { code: string; message: string }) => {
    if (code === 'mic_lost' || code === 'mic_found') say.textContent = code === 'mic_lost' ? message : '';
  });
  button.addEventListener('click', () => (isLive ? host.end() : host.start()));
  show(words.talk, false, '');
  return [button, say];
}
