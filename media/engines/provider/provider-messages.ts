/**
 * What pipeline threads and provider threads say to each other, over one MessagePort a pair: lines, each opened by the
 * pipeline for one use of a connection (a request, a recogniser, a voice). What is said on a line is its service's
 * business. Numbers of lines are the pipeline's own. Credentials never come this way. Towards the provider a list of
 * messages goes over at once, the oldest first: to be woken costs more than to read one.
 */
import type { ProviderFault } from '../../contract/model.ts';

export type ToProvider =
  /** `service`: of `services.ts`. */
  | {
      type: 'open';
      line: number;
      service: string;
      callUuid: string;
      connection: string;
      settings: Readonly<Record<string, unknown>>;
      body: unknown;
    }
  | { type: 'say'; line: number; body: unknown }
  /** Nothing is said on the line after this was read, by either side. */
  | { type: 'close'; line: number };

export type FromProvider =
  | { type: 'say'; line: number; body: unknown }
  /** The line's last. `fault` null: in order. */
  | { type: 'over'; line: number; fault: ProviderFault | null; message: string };
