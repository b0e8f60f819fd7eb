/**
 * `PARLEY_NODE` and `PARLEY_NODE_ADDRESS`: this node among several on one database. Read by control's settings; alone,
 * neither is needed.
 */

export interface NodeSettings {
  /** Null: the data folder's own. */
  name: string | null;
  /** Where other nodes ask whether this machine lives, without a slash at its end; null: nowhere. */
  address: string | null;
}

/** What a host name's label may be, so that it fits an address too. */
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function readNodeSettings(given: Readonly<Record<string, string | undefined>>): {
  settings: NodeSettings;
  faults: string[];
} {
  const { PARLEY_NODE: name = null, PARLEY_NODE_ADDRESS: address = null } = given;
  const faults: string[] = [];
  if (name !== null && !NAME.test(name)) {
    faults.push(
      "  PARLEY_NODE must be at most 63 of a-z, 0-9 and '-', like a host's name (leave it out where there is one node)",
    );
  }
  if (address !== null && !isPlainHttp(address)) {
    faults.push(
      '  PARLEY_NODE_ADDRESS must be where other nodes reach this very machine, like http://10.0.0.5:8080, and not the balancer',
    );
  }
  return { settings: { name, address: address === null ? null : address.replace(/\/+$/, '') }, faults };
}

function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, pathname, search, hash } = new URL(address);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '';
}
