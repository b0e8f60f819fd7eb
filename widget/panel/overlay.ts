/**
 * The panel of a call, as the browser's own `<dialog>`: a modal with its focus trap, Esc and inert page behind, or
 * docked in a corner, where it takes neither the focus nor the page. Closing it by any way ends the call. A polite line
 * says what changes, an alert says what went wrong; captions are a log that is off until wanted.
 */
import type { LevelEvent, PanelHost, StatusEvent } from '../contract/ports.ts';
import type { TranscriptMessage } from './captions.ts';
import { CAPTIONS, COPY, CROSS, element, HANG_UP, icon, MICROPHONE, VOICE } from './elements.ts';
import { createLog } from './log.ts';
import { faultWords, type Look, pictureOf } from './look.ts';
import { createTyping } from './typing.ts';

export interface Overlay {
  readonly element: HTMLDialogElement;
  show(): void;
  hide(): void;
}

const HINT_AFTER_MS = 1_200;
const ENDED_SHOWN_MS = 1_600;
/** A voice of ordinary level fills the meter. */
const LEVEL_GAIN = 5;
const USUAL_TITLE = 'Voice call';
const TITLE_ID = 'parley-title';
const ORB_PX = 64;

export function createOverlay(host: PanelHost, look: Look, isDocked: boolean): Overlay {
  const { words, language } = look;
  const states: Record<string, string> = {
    listening: words.listening,
    thinking: words.thinking,
    speaking: words.speaking,
  };
  const now = element('p', { class: 'now', role: 'status' });
  const more = element('p', { class: 'more' });
  const fault = element('p', { class: 'more', role: 'alert' });
  const closeButton = element('button', { type: 'button', 'aria-label': words.close }, icon(CROSS));
  const orb = element(
    'div',
    { class: 'orb', 'aria-hidden': 'true' },
    element('i'),
    element('i'),
    element('i', {}, pictureOf(look, ORB_PX) ?? icon(VOICE)),
  );
  const log = createLog(look);
  const captions = log.element;
  const mute = button('', words.mute, MICROPHONE, { 'aria-pressed': 'false', 'aria-label': words.muteLabel });
  const subtitles = button('', '', CAPTIONS, { 'aria-pressed': 'false', 'aria-label': words.captions });
  const copy = button('', words.copy, COPY);
  const go = button('go', words.start, VOICE);
  const end = button('end', words.end, HANG_UP);
  const typing = createTyping(look, (text) => {
    host.sendText(text);
    showLog(true);
  });
  const dialog = element(
    'dialog',
    { 'aria-labelledby': TITLE_ID, lang: language, class: isDocked ? 'docked' : '' },
    element('header', {}, element('h2', { id: TITLE_ID }, host.config.title || look.name || USUAL_TITLE), closeButton),
    orb,
    element('div', { class: 'words' }, now, more, fault),
    captions,
    typing,
    element('div', { class: 'controls' }, mute, subtitles, copy, go, end),
  );
  let timer = 0;
  let clock = 0;
  let connectedAtMs = 0;
  let isMuted = false;
  let state = '';

  function seconds(): void {
    const passed = Math.floor((performance.now() - connectedAtMs) / 1000);
    const time = `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`;
    // Not announced: a screen reader would talk over the agent.
    more.textContent = state === '' ? time : `${state} · ${time}`;
  }

  function phase(isLive: boolean, said: string): void {
    now.textContent = said;
    more.textContent = '';
    clearTimeout(timer);
    clearInterval(clock);
    go.hidden = isLive;
    copy.hidden = true;
    typing.hidden = !isLive || !look.typing;
    for (const one of [mute, subtitles, end]) one.hidden = !isLive;
  }

  function showLog(isShown: boolean): void {
    captions.hidden = !isShown;
    subtitles.setAttribute('aria-pressed', String(isShown));
  }

  /** A modal has the focus anyway; a docked panel only where the visitor has put it. */
  function focusFrom(had: boolean, to: HTMLElement): void {
    if (dialog.open && (had || !isDocked)) to.focus();
  }
  const hasFocus = (): boolean => dialog.contains((dialog.getRootNode() as ShadowRoot).activeElement ?? null);

  function told(event: StatusEvent): void {
    const had = hasFocus();
    dialog.classList.toggle('waiting', event.status === 'connecting');
    dialog.classList.toggle('failed', event.status === 'error');
    fault.textContent = event.status === 'error' ? faultWords(look, event) : '';
    if (event.status === 'connecting') {
      const isAgain = event.reason === 'resuming';
      phase(true, isAgain ? words.reconnecting : words.connecting);
      if (!isAgain) {
        // A call begins with an open microphone, whatever the one before ended with.
        muted(false);
        log.clear();
        showLog(look.typing);
      }
      timer = later(HINT_AFTER_MS, () => {
        more.textContent = isAgain ? words.lost : words.allow;
      });
      focusFrom(had, end);
    } else if (event.status === 'connected') {
      phase(true, words.connected);
      connectedAtMs ||= performance.now();
      seconds();
      clock = setInterval(seconds, 1_000) as unknown as number;
    } else ended(event, had);
  }

  function ended({ status }: StatusEvent, had: boolean): void {
    connectedAtMs = 0;
    state = '';
    level({ who: 'agent', level: 0 });
    level({ who: 'user', level: 0 });
    phase(false, status === 'error' ? words.failed : words.ended);
    go.lastChild!.textContent = status === 'error' ? words.retry : words.again;
    const isRead = look.transcript && !log.isEmpty;
    showLog(isRead);
    copy.hidden = !isRead;
    copy.lastChild!.textContent = words.copy;
    focusFrom(had, go);
    if (status === 'disconnected' && !isRead) timer = later(ENDED_SHOWN_MS, hide);
  }

  function muted(isNow: boolean): void {
    isMuted = isNow;
    mute.setAttribute('aria-pressed', String(isNow));
    mute.lastChild!.textContent = isNow ? words.muted : words.mute;
  }

  function level({ who, level: rms }: LevelEvent): void {
    orb.style.setProperty(`--${who}`, Math.min(1, rms * LEVEL_GAIN).toFixed(3));
  }

  function hide(): void {
    clearTimeout(timer);
    if (dialog.open) dialog.close();
  }

  phase(false, words.ready);
  // Told the present status at once, which may be one of a call.
  host.on('status', told);
  host.on('level', level);
  host.on('state', ({ state: name }: { state: string }) => {
    state = states[name] ?? state;
    if (connectedAtMs !== 0) seconds();
  });
  host.on('transcript', (message: TranscriptMessage) => log.take(message));
  host.on('warning', ({ code, message }: { code: string; message: string }) => {
    if (code === 'mic_lost') fault.textContent = message;
    if (code === 'mic_silent') fault.textContent = words.micSilent;
    if (code === 'mic_found') fault.textContent = '';
  });
  // Whoever is heard has no silent microphone any more.
  host.on('speech', () => {
    fault.textContent = '';
  });

  mute.addEventListener('click', () => {
    muted(!isMuted);
    host.mute(isMuted);
  });
  subtitles.addEventListener('click', () => showLog(captions.hidden === true));
  copy.addEventListener('click', () => {
    navigator.clipboard.writeText(log.text()).then(
      () => {
        copy.lastChild!.textContent = words.copied;
      },
      () => getSelection()?.selectAllChildren(captions),
    );
  });
  go.addEventListener('click', () => host.start());
  for (const one of [end, closeButton]) one.addEventListener('click', () => host.close());
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    host.close();
  });
  dialog.addEventListener('keydown', ({ key }) => {
    if (isDocked && key === 'Escape') host.close();
  });
  dialog.addEventListener('click', (event) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isOutside = event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
    if (!isDocked && event.target === dialog && isOutside && event.detail > 0) host.close();
  });

  return {
    element: dialog,
    show() {
      clearTimeout(timer);
      // `show()` would take the focus from where the visitor has it.
      if (isDocked) dialog.open = true;
      else if (!dialog.open) dialog.showModal();
      if (!isDocked) (end.hidden ? go : end).focus();
    },
    hide,
  };
}

function button(kind: string, words: string, path: string, attributes: Record<string, string> = {}): HTMLButtonElement {
  return element('button', { type: 'button', class: kind, ...attributes }, icon(path), words);
}

const later = (ms: number, act: () => void): number => setTimeout(act, ms) as unknown as number;
