/**
 * What of a call never changes once it is dialled, and a carrier's callback is checked by: its line and with which
 * credentials it was placed. Remembered, so that a callback costs the statements of what it changes and no look before
 * them. Asked by the carrier routes; told by placement, of calls that this process has placed.
 */
import type { Queryable } from '../store/database.ts';

export interface DialledCall {
  callUuid: string;
  lineId: string | null;
  carrier: string;
  lineCredentialsVersion: number | null;
}

export interface DialledCalls {
  /** Undefined: there is no such call. */
  of(callUuid: string): Promise<DialledCall | undefined>;
  /** Its row is there now. */
  placed(call: DialledCall): void;
}

/** The longest call's callbacks come over hours; a forgotten one costs a look. */
const MOST_REMEMBERED = 20_000;

export function createDialledCalls(database: Queryable): DialledCalls {
  const remembered = new Map<string, DialledCall>();
  function placed(call: DialledCall): void {
    remembered.set(call.callUuid, call);
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  }
  return {
    placed,
    async of(callUuid) {
      const known = remembered.get(callUuid);
      if (known !== undefined) return known;
      const [call] = await database.query<DialledCall>(
        `SELECT call_uuid AS "callUuid", line_id AS "lineId", carrier, line_credentials_version AS "lineCredentialsVersion"
           FROM calls WHERE call_uuid = $1`,
        [callUuid],
      );
      if (call === undefined) return undefined;
      placed(call);
      return call;
    },
  };
}
