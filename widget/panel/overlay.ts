/**
 * The modal of a call: `<dialog>` with the browser's own focus trap, Esc and inert page behind. Closing it by any way
 * ends the call. A polite line says what changes, an alert says what went wrong; captions are a
 * log that is off until wanted.
 */
import type { LevelEvent, PanelHost, StatusEvent } from '../contract/ports.ts';
import { type CaptionLine, createCaptions, type TranscriptMessage } from './captions.ts';
import { CAPTIONS, CROSS, element, HANG_UP, icon, MICROPHONE, VOICE } from './elements.ts';

export interface Overlay {
  readonly element: HTMLDialogElement;
  show(): void;
  hide(): void;
}

const HINT_AFTER_MS = 1_200;
const ENDED_SHOWN_MS = 1_600;
/** A voice of ordinary level fills the meter. */
const LEVEL_GAIN = 5;
const STATES: Record<string, string> = { listening: 'Listening', thinking: 'Thinking', speaking: 'Speaking' };
const TITLE_ID = 'parley-title';

export function createOverlay(host: PanelHost): Overlay {
  const now = element('p', { class: 'now', role: 'status' });
  const more = element('p', { class: 'more' });
  const fault = element('p', { class: 'more', role: 'alert' });
  const closeButton = element('button', { type: 'button', 'aria-label': 'Close and hang up' }, icon(CROSS));
  const orb = element(
    'div',
    { class: 'orb', 'aria-hidden': 'true' },
    element('i'),
    element('i'),
    element('i', {}, icon(VOICE)),
  );
  const captions = element('div', {
    class: 'captions',
    role: 'log',
    'aria-label': 'Captions',
    tabindex: '0',
    hidden: true,
  });
  const mute = button('', 'Mute', MICROPHONE, { 'aria-pressed': 'false', 'aria-label': 'Mute the microphone' });
  const subtitles = button('', '', CAPTIONS, { 'aria-pressed': 'false', 'aria-label': 'Captions' });
  const go = button('go', 'Start talking', VOICE);
  const end = button('end', 'Hang up', HANG_UP);
  const dialog = element(
    'dialog',
    { 'aria-labelledby': TITLE_ID, lang: 'en' },
    element('header', {}, element('h2', { id: TITLE_ID }, host.config.title), closeButton),
    orb,
    element('div', { class: 'words' }, now, more, fault),
    captions,
    element('div', { class: 'controls' }, mute, subtitles, go, end),
  );
  let timer = 0;
  let clock = 0;
  let connectedAtMs = 0;
  let isMuted = false;
  let state = '';
  /** Of this call: turns of the next one have the same ids. */
  let spoken = createCaptions();
  const shown = new Map<CaptionLine, HTMLElement>();

  function seconds(): void {
    const passed = Math.floor((performance.now() - connectedAtMs) / 1000);
    const time = `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`;
    // Not announced: a screen reader would talk over the agent.
    more.textContent = state === '' ? time : `${state} · ${time}`;
  }

  function phase(isLive: boolean, words: string): void {
    now.textContent = words;
    more.textContent = '';
    clearTimeout(timer);
    clearInterval(clock);
    go.hidden = isLive;
    for (const one of [mute, subtitles, end]) one.hidden = !isLive;
  }

  function told(event: StatusEvent): void {
    dialog.classList.toggle('waiting', event.status === 'connecting');
    dialog.classList.toggle('failed', event.status === 'error');
    fault.textContent = event.status === 'error' ? (event.message ?? '') : '';
    if (event.status === 'connecting') {
      phase(true, event.reason === 'resuming' ? 'Reconnecting…' : 'Connecting…');
      if (event.reason !== 'resuming') {
        // A call begins with an open microphone, whatever the one before ended with.
        muted(false);
        spoken = createCaptions();
        shown.clear();
        captions.replaceChildren();
      }
      timer = later(HINT_AFTER_MS, () => {
        more.textContent =
          event.reason === 'resuming'
            ? 'The line was lost; the call goes on.'
            : 'Allow the microphone if your browser asks.';
      });
      if (dialog.open) end.focus();
    } else if (event.status === 'connected') {
      phase(true, 'Connected');
      connectedAtMs ||= performance.now();
      seconds();
      clock = setInterval(seconds, 1_000) as unknown as number;
    } else {
      connectedAtMs = 0;
      state = '';
      level({ who: 'agent', level: 0 });
      level({ who: 'user', level: 0 });
      phase(false, event.status === 'error' ? 'That did not work' : 'The call has ended');
      go.lastChild!.textContent = event.status === 'error' ? 'Try again' : 'Call again';
      if (dialog.open) go.focus();
      if (event.status === 'disconnected') timer = later(ENDED_SHOWN_MS, hide);
    }
  }

  function muted(now: boolean): void {
    isMuted = now;
    mute.setAttribute('aria-pressed', String(now));
    mute.lastChild!.textContent = now ? 'Muted' : 'Mute';
  }

  function level({ who, level: rms }: LevelEvent): void {
    orb.style.setProperty(`--${who}`, Math.min(1, rms * LEVEL_GAIN).toFixed(3));
  }

  function hide(): void {
    clearTimeout(timer);
    if (dialog.open) dialog.close();
  }

  phase(false, 'Ready when you are');
  // Told the present status at once, which may be one of a call.
  host.on('status', told);
  host.on('level', level);
  host.on('state', ({ state: now }: { state: string }) => {
    state = STATES[now] ?? state;
    if (connectedAtMs !== 0) seconds();
  });
  host.on('transcript', (message: TranscriptMessage) => {
    const { line, before } = spoken.take(message);
    const row = shown.get(line) ?? element('p');
    row.replaceChildren(element('b', {}, line.role === 'agent' ? 'Agent ' : 'You '), line.text);
    if (!shown.has(line)) captions.insertBefore(row, before && shown.get(before)!);
    shown.set(line, row);
    row.hidden = line.text === '';
    captions.scrollTop = captions.scrollHeight;
  });
  host.on('warning', ({ code, message }: { code: string; message: string }) => {
    if (code === 'mic_lost') fault.textContent = message;
    if (code === 'mic_silent') fault.textContent = 'Nothing is heard from your microphone.';
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
  subtitles.addEventListener('click', () => {
    captions.hidden = !captions.hidden;
    subtitles.setAttribute('aria-pressed', String(!captions.hidden));
  });
  go.addEventListener('click', () => host.start());
  end.addEventListener('click', () => host.close());
  closeButton.addEventListener('click', () => host.close());
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    host.close();
  });
  dialog.addEventListener('click', (event) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isOutside = event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
    if (event.target === dialog && isOutside && event.detail > 0) host.close();
  });

  return {
    element: dialog,
    show() {
      clearTimeout(timer);
      if (!dialog.open) dialog.showModal();
      (end.hidden ? go : end).focus();
    },
    hide,
  };
}

function button(kind: string, words: string, path: string, attributes: Record<string, string> = {}): HTMLButtonElement {
  return element('button', { type: 'button', class: kind, ...attributes }, icon(path), words);
}

const later = (ms: number, act: () => void): number => setTimeout(act, ms) as unknown as number;
