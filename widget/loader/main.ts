/**
 * `embed.js`: reads its own script's attributes, listens for clicks on targets, and exposes `window.ServiceVoice`. The
 * specification's "Embed script" and "Browser API" are its contract. It touches no other global, stores nothing, and
 * must never break the page.
 */
import type { EventName, StartOptions, ToolHandler } from '../contract/ports.ts';
import { createInstance, type Instance } from './instance.ts';
import { VERSION } from './parts.ts';
import { createTriggers, type Triggers } from './triggers.ts';

/** Shared by all copies of this script on a page. */
interface Page {
  instances: Instance[];
  triggers: Triggers;
}

const PAGE = Symbol.for('parley.embed');
const MARKER = '[data-service-talk]';
const PANELS = ['overlay', 'docked', 'auto'] as const;
const METHODS = ['start', 'end', 'open', 'close', 'bind', 'on', 'mute', 'sendText', 'sendDigits', 'tool'] as const;

type Api = Record<string, unknown> & { q?: [string, ArrayLike<unknown>][] };

function pageOf(): Page {
  const holder = document as unknown as Record<symbol, Page>;
  const known = holder[PAGE];
  if (known !== undefined) return known;
  const instances: Instance[] = [];
  const prepareAll = (): void => {
    for (const one of instances) one.prepare();
  };
  const page: Page = { instances, triggers: createTriggers(prepareAll) };
  Object.defineProperty(document, PAGE, { value: page });
  addEventListener('pagehide', () => {
    for (const one of instances) one.end('page_hidden');
  });
  // An element may name its agent: several scripts on one page share the marker.
  page.triggers.add(MARKER, (element) => {
    const named = element.getAttribute('data-service-talk');
    const own = page.instances.find((one) => named && one.key.endsWith(named)) ?? page.instances[0];
    void own?.start();
  });
  return page;
}

function run(script: HTMLScriptElement): void {
  const { publicKey = '', agentId = '', ui, trigger, codec = 'auto', title = '' } = script.dataset;
  const panel = PANELS.find((one) => one === script.dataset['panel']) ?? 'none';
  const base = script.src.replace(/\/embed(\/[^/]*)?\.js([?#].*)?$/, '');
  if (!publicKey || !agentId) {
    console.warn('ServiceVoice: data-public-key and data-agent-id must be set on the script of embed.js.');
    return;
  }
  const page = pageOf();
  const key = `${publicKey} ${agentId}`;
  let instance = page.instances.find((one) => one.key === key);
  if (instance === undefined) {
    instance = createInstance({ base, publicKey, agentId, codec, title, panel, nonce: script.nonce }, (self) => {
      for (const one of page.instances) if (one !== self) one.end('replaced');
    });
    page.instances.push(instance);
    prepareWhenIdle(instance);
  }
  const own = instance;
  if (trigger) page.triggers.add(trigger, () => void own.start());
  const stub = (window as { ServiceVoice?: Api }).ServiceVoice;
  if (ui === 'custom' || panel !== 'none' || stub?.q) expose(own, page, stub);
  if (ui !== 'custom') whenBody(() => own.showButton());
}

/** The first script of a page owns `ServiceVoice`. Calls made of a stub before this are carried out in their order. */
function expose(instance: Instance, page: Page, stub: Api | undefined): void {
  if (stub?.['version']) return;
  const api: Api = stub ?? {};
  const own: Record<(typeof METHODS)[number], unknown> = {
    start: (options?: StartOptions) => instance.start(options),
    end: () => instance.end(),
    open: () => instance.open(),
    close: () => instance.close(),
    bind: (selector: string) => page.triggers.add(String(selector), () => void instance.start()),
    on: (name: EventName, handler: (payload: never) => void) => instance.on(name, handler),
    mute: (muted = true) => instance.mute(muted),
    sendText: (text: string) => instance.sendText(text),
    sendDigits: (digits: string) => instance.sendDigits(digits),
    tool: (name: string, handler: ToolHandler) => instance.tool(name, handler),
  };
  const calls = api.q ?? [];
  delete api.q;
  Object.assign(api, own, { version: VERSION });
  (window as { ServiceVoice?: Api }).ServiceVoice = api;
  for (const [name, given] of calls) {
    const method = own[name as 'start'] as ((...given: unknown[]) => unknown) | undefined;
    // A start() that was queued by no gesture would be silent: the page is told instead.
    if (name === 'start' && navigator.userActivation?.hasBeenActive === false) instance.refuse('gesture_required');
    else method?.(...Array.from(given));
  }
}

function prepareWhenIdle(instance: Instance): void {
  const whenIdle = (): void => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => instance.prepare(), { timeout: 3_000 });
    else setTimeout(() => instance.prepare(), 500);
  };
  if (document.readyState === 'complete') whenIdle();
  else addEventListener('load', whenIdle, { once: true });
}

function whenBody(act: () => void): void {
  if (document.body) act();
  else addEventListener('DOMContentLoaded', act, { once: true });
}

try {
  const script = document.currentScript ?? document.querySelector('script[data-public-key][src*="/embed"]');
  if (script instanceof HTMLScriptElement) run(script);
} catch (error) {
  console.warn('ServiceVoice could not start.', error);
}
