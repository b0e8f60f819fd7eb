/**
 * The carrier of a call's line, with the credentials that the call was placed with, though the line may have others by
 * now. Those of a version never change, and are looked up once a minute at most, which finds them gone; with a call
 * that is placed they have just been. While the database is away the last known one serves, so that an active call can
 * still be hung up. Used by callbacks, claims, hang-ups and look-ups. A web session has no line.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { WEB_CARRIER } from '../carriers/web-carrier.ts';
import { type SealedPlace, sealedPlace } from '../sealing/sealed-places.ts';
import type { Database } from '../store/database.ts';
import { isDatabaseAway } from '../store/database-away.ts';

export interface LineCarriers {
  /** Rejects when the line has no credentials, or they do not open under this master key. */
  of(call: { lineId: string | null; carrier: string; lineCredentialsVersion?: number | null }): Promise<Carrier>;
  /** A call is placed with this version of the line's credentials, which were read for it. */
  placedWith(carrier: Carrier, credentials: { lineId: string; version: number }): void;
}

export interface LineCarriersDeps {
  database: Database;
  /** Of the sealer: the plain text is JSON, `{"authId": …}`. */
  open(sealed: Buffer, place: SealedPlace): string;
  registry: CarrierRegistry;
  clock: Pick<Clock, 'nowMs'>;
}

const KEPT_MS = 60_000;

export function createLineCarriers(deps: LineCarriersDeps): LineCarriers {
  /** `sealed`: null where others have read them. */
  const known = new Map<string, { sealed: Buffer | null; carrier: Carrier; readAtMs: number }>();
  return {
    placedWith(carrier, { lineId, version }) {
      const key = keyOf(lineId, version);
      known.set(key, { sealed: known.get(key)?.sealed ?? null, carrier, readAtMs: deps.clock.nowMs() });
    },
    async of({ lineId, carrier: name, lineCredentialsVersion = null }) {
      if (lineId === null) return WEB_CARRIER;
      const key = keyOf(lineId, lineCredentialsVersion);
      const last = known.get(key);
      const isVersion = lineCredentialsVersion !== null;
      const nowMs = deps.clock.nowMs();
      if (last !== undefined && isVersion && nowMs - last.readAtMs < KEPT_MS) return last.carrier;
      let row: { workspaceId: string; sealed: Buffer | null } | undefined;
      try {
        [row] = await deps.database.query<{ workspaceId: string; sealed: Buffer | null }>(
          `SELECT l.workspace_id AS "workspaceId", coalesce(p.sealed, l.credentials_sealed) AS sealed
           FROM phone_lines l LEFT JOIN past_line_credentials p ON p.line_id = l.id AND p.version = $2 WHERE l.id = $1`,
          [lineId, lineCredentialsVersion],
        );
      } catch (error) {
        if (last !== undefined && isDatabaseAway(error)) return last.carrier;
        throw error;
      }
      const sealed = row?.sealed ?? null;
      if (row === undefined || sealed === null) {
        throw new Error(`Line ${lineId} has no credentials; give them with \`parley line\`.`);
      }
      if (last?.sealed?.equals(sealed)) {
        last.readAtMs = nowMs;
        return last.carrier;
      }
      const credentials = deps.open(sealed, sealedPlace.lineCredentials(row.workspaceId, lineId));
      const carrier = deps.registry.carrierFor(name, JSON.parse(credentials) as Record<string, string>);
      known.set(key, { sealed, carrier, readAtMs: nowMs });
      return carrier;
    },
  };
}

function keyOf(lineId: string, version: number | null): string {
  return `${lineId} ${version ?? ''}`;
}
