/** The target of a far-end process, made of its plan. The one list of what can be loaded. */
import { BrowserTarget } from './browser/browser-target.ts';
import type { DrivenTarget, TargetDeps } from './driven-target.ts';
import { openParleyTarget } from './parley/parley-target.ts';
import { StreamTarget } from './stream/stream-target.ts';
import type { TargetPlan } from './target-plan.ts';

export async function openTarget(plan: TargetPlan, deps: TargetDeps): Promise<DrivenTarget> {
  const { clock, frameSent, clips } = deps;
  switch (plan.kind) {
    case 'parley':
      return openParleyTarget(plan, deps);
    case 'browser':
      return new BrowserTarget(plan, deps);
    case 'stream':
      return new StreamTarget(plan, { clock, frameSent, clipsOf: (talk) => clips.of(talk) });
    case 'mixed':
      return mixed(await openParleyTarget(plan.phone, deps), new BrowserTarget(plan.browser, deps));
  }
}

/** Each call goes to whom it is for. */
function mixed(phone: DrivenTarget, browser: DrivenTarget): DrivenTarget {
  return {
    carrierBase: phone.carrierBase ?? null,
    point(deployment) {
      phone.point?.(deployment);
      browser.point?.(deployment);
    },
    async check() {
      const found = await phone.check();
      await browser.check();
      return found;
    },
    call: (planned) => (planned.by === 'browser' ? browser : phone).call(planned),
    callIdOf: (index) => phone.callIdOf(index) ?? browser.callIdOf(index),
    async hangUpAll(limitMs) {
      await Promise.all([phone.hangUpAll(limitMs), browser.hangUpAll(limitMs)]);
    },
    async close() {
      await Promise.all([phone.close(), browser.close()]);
    },
  };
}
