/**
 * The carrier of a call's line, with the credentials that the call was placed with, though the line may have others by now. While
 * the database is away the last known one serves, so that a live call can still be hung up. Used by callbacks, claims, hang-ups
 * and look-ups. A web session has no line.
 */
import type { Carrier } from '../carriers/carrier.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { WEB_CARRIER } from '../embed/web-carrier.ts';
import type { Database } from '../store/database.ts';
import { isDatabaseAway } from './database-away.ts';

export interface LineCarriers {
  /** Rejects when the line has no credentials, or they do not open under this master key. */
  of(call: { lineId: string | null; carrier: string; lineCredentialsVersion?: number | null }): Promise<Carrier>;
}

export interface LineCarriersDeps {
  database: Database;
  /** Of the sealer: the plain text is JSON, `{"authId": …}`. */
  open(sealed: Buffer): string;
  registry: CarrierRegistry;
}

export function createLineCarriers(deps: LineCarriersDeps): LineCarriers {
  const known = new Map<string, { sealed: Buffer; carrier: Carrier }>();
  return {
    async of({ lineId, carrier: name, lineCredentialsVersion = null }) {
      if (lineId === null) return WEB_CARRIER;
      const key = `${lineId} ${lineCredentialsVersion ?? ''}`;
      const last = known.get(key);
      let sealed: Buffer | null | undefined;
      try {
        const rows = await deps.database.query<{ credentials_sealed: Buffer | null }>(
          `SELECT coalesce(p.sealed, l.credentials_sealed) AS credentials_sealed
           FROM phone_lines l LEFT JOIN past_line_credentials p ON p.line_id = l.id AND p.version = $2 WHERE l.id = $1`,
          [lineId, lineCredentialsVersion],
        );
        sealed = rows[0]?.credentials_sealed;
      } catch (error) {
        if (last !== undefined && isDatabaseAway(error)) return last.carrier;
        throw error;
      }
      if (sealed === null || sealed === undefined) {
        throw new Error(`Line ${lineId} has no credentials; give them with \`parley line\`.`);
      }
      if (last?.sealed.equals(sealed)) return last.carrier;
      const carrier = deps.registry.carrierFor(name, JSON.parse(deps.open(sealed)) as Record<string, string>);
      known.set(key, { sealed, carrier });
      return carrier;
    },
  };
}
