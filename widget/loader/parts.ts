/**
 * Loads the other parts: as scripts with the hash that the build wrote into the loader, so that who pins the loader
 * pins everything, and with the page's nonce. Each part gives what it holds to its own script
 * element; no global is touched.
 */
import { FaultError } from './faults.ts';

/** File names by part, and Subresource Integrity hashes; written by `scripts/build-widget.mjs`. */
declare const __PARTS__: Record<'session' | 'panel' | 'audio', { file: string; integrity: string }>;
declare const __VERSION__: string;

export const VERSION = __VERSION__;

export const addressOf = (base: string, part: keyof typeof __PARTS__): string =>
  `${base}/embed/assets/${__PARTS__[part].file}`;

export function createParts(base: string, nonce: string) {
  const loaded = new Map<string, Promise<unknown>>();

  function load(part: 'session' | 'panel'): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.crossOrigin = 'anonymous';
      script.integrity = __PARTS__[part].integrity;
      if (nonce) script.nonce = nonce;
      script.async = true;
      Object.assign(script, { deliver: resolve });
      script.onerror = () => {
        script.remove();
        loaded.delete(part);
        reject(new TypeError(`${part} did not load`));
      };
      script.onload = () => {
        script.remove();
        reject(new FaultError('server', `${part}_empty`));
      };
      script.src = trusted(addressOf(base, part));
      document.head.append(script);
    });
  }

  return <Part>(part: 'session' | 'panel'): Promise<Part> => {
    let loading = loaded.get(part);
    if (loading === undefined) {
      loading = load(part);
      loaded.set(part, loading);
      loading.catch(() => {});
    }
    return loading as Promise<Part>;
  };
}

/** Pages that require Trusted Types allow the policy `parley` (docs/embed-script.md). */
function trusted(address: string): string {
  const { trustedTypes } = window as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(address: string): string } };
  };
  try {
    policy ??= trustedTypes?.createPolicy('parley', { createScriptURL: (one: string) => one });
  } catch {
    // Not allowed here, or another copy has made it: a plain string will do where nothing is required.
  }
  return policy?.createScriptURL(address) ?? address;
}
let policy: { createScriptURL(address: string): string } | undefined;
