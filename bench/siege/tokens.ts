/**
 * Somebody who has read the public key off a page, asks for the tokens of sessions, from several addresses, and uses
 * none of them. Bounded in number. Used by the bench and the test of sieges.
 */
import { request } from 'node:http';
import { inTurn, type TurnSiege } from './in-turn.ts';

export interface TokenSiegeOptions {
  port: number;
  publicKey: string;
  agentId: string;
  /** That the key is bound to. */
  origin: string;
  /** Loopback addresses to come from, in turn. */
  sources: readonly string[];
  inAll: number;
}

export function hoardTokens(options: TokenSiegeOptions): TurnSiege {
  const { inAll, sources } = options;
  return inTurn({ atOnce: 1, inAll }, (turn) => askForToken(options, sources[turn % sources.length]!));
}

function askForToken({ port, publicKey, agentId, origin }: TokenSiegeOptions, localAddress: string): Promise<string> {
  const body = JSON.stringify({ publicKey, agentId, parentOrigin: origin });
  const headers = { origin, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', port, localAddress, method: 'POST', path: '/api/embed/session', headers, agent: false },
      (answer) => {
        answer.resume();
        const code = answer.headers['x-error-code'];
        answer.on('end', () =>
          resolve(code === undefined ? String(answer.statusCode) : `${answer.statusCode} ${code}`),
        );
        answer.on('error', reject);
      },
    )
      .on('error', reject)
      .end(body);
  });
}
