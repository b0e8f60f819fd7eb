/** Turns what the network stack throws into a clause that the owner of a receiver understands. */

const REASONS: Record<string, string> = {
  ENOTFOUND: 'its name does not resolve',
  EAI_AGAIN: 'its name could not be looked up at the moment',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed without an answer',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  EPIPE: 'the connection was closed without an answer',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate chain is incomplete',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
};

/** `error` as thrown by dns, net, tls or undici; several attempts at one name come as an AggregateError. */
export function failureReason(error: Error): string {
  const inner = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = 'code' in inner && typeof inner.code === 'string' ? inner.code : null;
  if (error.name === 'HTTPParserError') return `the answer is not HTTP/1.1 (${code ?? inner.message})`;
  if (code === null) return inner.message || 'the request failed';
  const reason = REASONS[code];
  return reason === undefined ? `${inner.message} (${code})` : `${reason} (${code})`;
}
