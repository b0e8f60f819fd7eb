/**
 * What of a call never changes once it is dialled, and a carrier's callback is checked by: its line and with which
 * credentials it was placed. Remembered, so that a callback costs the statements of what it changes and no look before
 * them; and so with the socket that a carrier opens because a callback was answered so. Asked by the carrier routes
 * and by claims; told by placement, of calls that this process has placed, and by the routes.
 */
import type { Queryable } from '../store/database.ts';

export interface DialledCall {
  callUuid: string;
  agentId: string;
  agentVersion: number;
  lineId: string | null;
  carrier: string;
  lineCredentialsVersion: number | null;
}

export interface DialledCalls {
  /** Undefined: there is no such call. */
  of(callUuid: string): Promise<DialledCall | undefined>;
  /** Its row is there now. */
  placed(call: DialledCall): void;
  /** The call whose stream waits, or waited, to be claimed with this token. */
  ofToken(tokenSha256: Buffer): Promise<DialledCall | undefined>;
  /** A carrier was told it. */
  tokenGiven(tokenSha256: Buffer, call: DialledCall): void;
}

/** The longest call's callbacks come over hours; a forgotten one costs a look. */
const MOST_REMEMBERED = 20_000;
/** A socket comes within seconds of its token. */
const MOST_TOKENS = 5_000;

const SELECT = `SELECT call_uuid AS "callUuid", agent_id AS "agentId", agent_version AS "agentVersion", line_id AS "lineId", carrier,
       line_credentials_version AS "lineCredentialsVersion" FROM calls`;

export function createDialledCalls(database: Queryable): DialledCalls {
  const remembered = new Map<string, DialledCall>();
  const byToken = new Map<string, DialledCall>();

  function placed(call: DialledCall): void {
    keep(remembered, call.callUuid, call, MOST_REMEMBERED);
  }

  return {
    placed,
    async of(callUuid) {
      const known = remembered.get(callUuid);
      if (known !== undefined) return known;
      const [call] = await database.query<DialledCall>(`${SELECT} WHERE call_uuid = $1`, [callUuid]);
      if (call !== undefined) placed(call);
      return call;
    },
    async ofToken(tokenSha256) {
      const known = byToken.get(tokenSha256.toString('hex'));
      if (known !== undefined) return known;
      return (await database.query<DialledCall>(`${SELECT} WHERE media_token_sha256 = $1`, [tokenSha256]))[0];
    },
    tokenGiven: (tokenSha256, call) => keep(byToken, tokenSha256.toString('hex'), call, MOST_TOKENS),
  };
}

function keep(calls: Map<string, DialledCall>, key: string, call: DialledCall, most: number): void {
  calls.set(key, call);
  if (calls.size > most) calls.delete(calls.keys().next().value!);
}
