/**
 * `/talk/{publicKey}/{agentId}`: a page to talk to an agent, and to see what happens while one does. It drives
 * `window.ServiceVoice` as any website does with `data-ui="custom"`.
 */
import type { EventName, LevelEvent, StatusEvent } from '../../contract/ports.ts';
import type { TranscriptMessage } from '../../panel/captions.ts';
import { element, HANG_UP, icon, MICROPHONE, VOICE } from '../../panel/elements.ts';
import { whyEnded } from './ends.ts';
import type { LatencyMessage } from './reply-parts.ts';
import { createReplyTimes } from './reply-times.ts';
import { createScope } from './scope.ts';
import { createTranscript } from './transcript.ts';

interface ServiceVoice {
  version?: string;
  q?: [string, unknown[]][];
  start(): unknown;
  end(): void;
  mute(muted: boolean): void;
  sendText(text: string): void;
  on(name: EventName, handler: (payload: never) => void): unknown;
}

const HINT_AFTER_MS = 1_500;
const STATES: Record<string, string> = { listening: 'Listening', thinking: 'Thinking', speaking: 'Speaking' };

/** `embed.js` may load before this page's own script or after it: calls until then are kept. */
function serviceVoice(): ServiceVoice {
  const holder = window as unknown as { ServiceVoice?: ServiceVoice };
  if (holder.ServiceVoice !== undefined) return holder.ServiceVoice;
  const q: [string, unknown[]][] = [];
  const later =
    (name: string) =>
    (...given: unknown[]) =>
      q.push([name, given]);
  const stub = Object.fromEntries(['start', 'end', 'mute', 'sendText', 'on'].map((name) => [name, later(name)]));
  holder.ServiceVoice = Object.assign(stub, { q }) as unknown as ServiceVoice;
  return holder.ServiceVoice;
}

function build(main: HTMLElement): void {
  const voice = serviceVoice();
  const scope = createScope();
  const transcript = createTranscript();
  const times = createReplyTimes();
  const now = element('p', { class: 'now', role: 'status' }, 'Ready when you are');
  const more = element('p', { class: 'more' }, 'The agent speaks as soon as you press the button.');
  const network = element('p', {}, '');
  const call = element('button', { type: 'button', class: 'main' }, icon(VOICE), 'Start talking');
  const mute = element('button', { type: 'button', 'aria-pressed': 'false', hidden: true }, icon(MICROPHONE), 'Mute');
  const text = element('input', {
    type: 'text',
    maxlength: '2000',
    placeholder: 'Type instead of speaking',
    'aria-label': 'Type instead of speaking',
    autocomplete: 'off',
  });
  const form = element('form', { class: 'type', hidden: true }, text, element('button', { type: 'submit' }, 'Send'));
  let isLive = false;
  let isMuted = false;
  let state = '';
  let connectedAtMs = 0;
  let timer = 0;
  let hint = 0;

  function seconds(): void {
    const passed = Math.floor((performance.now() - connectedAtMs) / 1000);
    more.textContent = `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`;
  }

  function showState(): void {
    const words = isMuted && state === 'listening' ? 'Muted' : STATES[state];
    if (isLive && words !== undefined) now.textContent = words;
  }

  function muted(now: boolean): void {
    isMuted = now;
    mute.setAttribute('aria-pressed', String(now));
    mute.lastChild!.textContent = now ? 'Muted' : 'Mute';
  }

  function told(event: StatusEvent): void {
    isLive = event.status === 'connecting' || event.status === 'connected';
    clearInterval(timer);
    clearTimeout(hint);
    call.classList.toggle('end', isLive);
    call.replaceChildren(
      icon(isLive ? HANG_UP : VOICE),
      isLive ? 'Hang up' : event.status === 'error' ? 'Try again' : 'Talk again',
    );
    mute.hidden = form.hidden = event.status !== 'connected';
    scope.run(isLive);
    more.setAttribute('role', event.status === 'error' ? 'alert' : 'presentation');
    if (event.status === 'connecting') {
      const isBack = event.reason === 'resuming';
      if (!isBack) {
        // A call begins with an open microphone, whatever the one before ended with.
        muted(false);
        transcript.clear();
        times.clear();
        scope.clear();
      }
      now.textContent = isBack ? 'Reconnecting' : 'Connecting';
      network.textContent = '';
      state = '';
      more.textContent = isBack ? 'The line was lost. The call goes on where it was.' : '';
      if (!isBack)
        hint = setTimeout(() => {
          more.textContent = 'Allow the microphone if your browser asks.';
        }, HINT_AFTER_MS) as unknown as number;
    } else if (event.status === 'connected') {
      now.textContent = 'Connected';
      connectedAtMs ||= performance.now();
      seconds();
      timer = setInterval(seconds, 1_000) as unknown as number;
    } else {
      connectedAtMs = 0;
      network.textContent = '';
      now.textContent = event.status === 'error' ? 'That did not work' : 'The call has ended';
      more.textContent = event.message ?? whyEnded(event.reason, event.callUuid ?? null);
      if (event.code === 'mic_denied' || event.code === 'mic_missing' || event.code === 'network') {
        more.append(' ', element('a', { href: '/embed/doctor' }, 'Check this device'));
      }
    }
  }

  voice.on('status', told);
  // The console shows this page in a frame, and the call beside it.
  voice.on('status', ({ callUuid }: StatusEvent) => {
    if (callUuid !== undefined && parent !== window) parent.postMessage({ type: 'call', callUuid }, location.origin);
  });
  voice.on('level', (one: LevelEvent) => scope.level(one));
  voice.on('transcript', (one: TranscriptMessage) => transcript.take(one));
  voice.on('state', (one: { state: string }) => {
    // `audible` and `silenced` are of sound, not of the agent.
    if (STATES[one.state] === undefined) return;
    state = one.state;
    showState();
  });
  voice.on('latency', (one: LatencyMessage) => {
    times.take(one);
    transcript.time(one.turnId, `${((one.heardMs ?? one.agentMs) / 1000).toFixed(2)} s`);
  });
  voice.on('network', ({ rttMs }: { rttMs?: number }) => {
    if (rttMs !== undefined) network.textContent = `${rttMs} ms round trip`;
  });
  voice.on('warning', ({ message }: { message: string }) => {
    more.textContent = message;
  });
  call.addEventListener('click', () => (isLive ? voice.end() : voice.start()));
  mute.addEventListener('click', () => {
    muted(!isMuted);
    voice.mute(isMuted);
    showState();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (text.value.trim() !== '') voice.sendText(text.value.trim());
    text.value = '';
  });

  main.append(
    element('header', {}, element('h1', {}, 'Talk to the agent'), network),
    element(
      'section',
      { class: 'card stage', 'aria-label': 'Call' },
      scope.element,
      element('div', { class: 'told' }, now, more),
      element('div', { class: 'controls' }, call, mute),
      form,
    ),
    element('div', { class: 'side' }, transcript.element, times.element),
  );
  main.removeAttribute('aria-busy');
  scope.run(false);
}

build(document.getElementById('talk')!);
