/**
 * `PARLEY_NODE`, `PARLEY_NODE_ADDRESS` and `STREAM_URL`: this node among several on one database. Read by the settings
 * of control and of the supervisor; alone, none of them is needed.
 */

export interface NodeSettings {
  /** Null: the data folder's own. */
  name: string | null;
  /** Where other nodes ask whether this machine lives, without a slash at its end; null: nowhere. */
  address: string | null;
  /** Where carriers open this node's streams, `{node}` filled in, no slash at its end; null: at the public address. */
  streamUrl: string | null;
}

/** What a host name's label may be, so that it fits an address too. */
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const NODE_PLACE = '{node}';
const PATH = /^[a-z0-9/-]*$/;

export function readNodeSettings(given: Readonly<Record<string, string | undefined>>): {
  settings: NodeSettings;
  faults: string[];
} {
  const { PARLEY_NODE: name = null, PARLEY_NODE_ADDRESS: address = null, STREAM_URL: stream = null } = given;
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
  const streamFault = stream === null ? null : faultOfStreams(stream, name);
  if (streamFault !== null) faults.push(`  STREAM_URL ${streamFault}`);
  const streamUrl = stream === null ? null : stream.replaceAll(NODE_PLACE, name ?? '').replace(/\/+$/, '');
  return { settings: { name, address: address === null ? null : address.replace(/\/+$/, ''), streamUrl }, faults };
}

function faultOfStreams(stream: string, name: string | null): string | null {
  const filled = stream.replaceAll(NODE_PLACE, name ?? 'a');
  const parsed = URL.canParse(filled) ? new URL(filled) : null;
  if (parsed === null || !/^wss?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '') {
    return 'must be where carriers open streams, like wss://voice.example.com/n/{node}, without a query (leave it out for PUBLIC_URL)';
  }
  // By it a node knows which of its streams were signed for this address, and not for the public one.
  if (parsed.pathname === '/' || !PATH.test(parsed.pathname)) {
    return 'must have a path of a-z, 0-9, - and / alone, like /n/{node}';
  }
  if (!stream.includes(NODE_PLACE))
    return 'must hold {node}, by which the balancer knows the node (leave it out for PUBLIC_URL)';
  return name === null ? 'holds {node}, so PARLEY_NODE must be set: a name of its own on each node' : null;
}

function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, pathname, search, hash } = new URL(address);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '';
}
