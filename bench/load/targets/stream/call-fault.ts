/** Why a call could not be put through: thrown on its way to the target, told in the measured call. */
import type { CallFate } from '../../contract/measured-call.ts';

export class CallFault extends Error {
  readonly fate: Extract<CallFate, 'refused' | 'failed'>;
  readonly code: string;

  /**
   * `refused`: the target said no; `failed`: it did not answer as it should. `code`: an HTTP status or a system code.
   */
  constructor(fate: 'refused' | 'failed', code: string, message: string) {
    super(message);
    this.fate = fate;
    this.code = code;
  }
}

/** Of an error that a connection to `address` ended with. */
export function connectionFault(error: unknown, address: string): CallFault {
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: { code?: unknown } };
  const known = String(code ?? cause?.code ?? name ?? 'unknown');
  return new CallFault('failed', known, sentenceOf(known, address, error));
}

function sentenceOf(code: string, address: string, error: unknown): string {
  if (code === 'ECONNREFUSED') return `nothing listens at ${address}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name in ${address} is not known`;
  if (/TIMEOUT|TimeoutError|ETIMEDOUT/.test(code)) return `${address} did not answer in time`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return `the certificate of ${address} is not trusted (${code}); give its authority with NODE_EXTRA_CA_CERTS=<file>`;
  }
  return `the connection to ${address} failed: ${error instanceof Error ? error.message : code}`;
}
