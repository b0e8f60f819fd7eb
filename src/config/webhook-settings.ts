/**
 * How fast one webhook URL is sent to, and how much may wait for it: the operator's word, for all workspaces. Part of
 * the configuration of control (`load.ts`).
 */
import { z } from 'zod';

export interface WebhookSettings {
  /** Requests that start in a second, to one URL. */
  perSecond: number;
  /** Under way to it at once. */
  atOnce: number;
  /** Deliveries that wait for it; beyond that the oldest are given up, and can be sent again. */
  mostWaiting: number;
}

export const WEBHOOK_DEFAULTS: WebhookSettings = { perSecond: 100, atOnce: 20, mostWaiting: 1_000_000 };

const whole = (least: number, most: number, preset: number) => {
  const fault = `must be a whole number from ${least} to ${most} (leave it out for ${preset})`;
  return z.coerce.number({ error: fault }).int(fault).min(least, fault).max(most, fault).default(preset);
};

export const WEBHOOK_SCHEMA = {
  WEBHOOK_PER_SECOND: whole(1, 10_000, WEBHOOK_DEFAULTS.perSecond),
  WEBHOOK_AT_ONCE: whole(1, 1_000, WEBHOOK_DEFAULTS.atOnce),
  WEBHOOK_MOST_WAITING: whole(1_000, 100_000_000, WEBHOOK_DEFAULTS.mostWaiting),
};
