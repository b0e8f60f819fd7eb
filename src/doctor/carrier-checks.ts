/**
 * Each line's credentials: do they open under the master key, and does the carrier take them?
 * One request for each pair.
 */
import { CARRIER_NAMES } from '../../media/contract/carriers.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { apiBaseVariable, credentialOptions } from '../carriers/setting-names.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { openCarrier } from '../workspaces/line-trial.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';
import { skewResult } from './database-checks.ts';

/** A Date header has whole seconds, and the answer took its time. */
const SKEW_WARN_MS = 5_000;
const SKEW_FAIL_MS = 60_000;

interface LineRow {
  id: string;
  workspace_id: string;
  slug: string;
  number: string;
  carrier: string;
  credentials_sealed: Buffer | null;
}

export interface CarrierCheckDeps {
  database: Queryable;
  sealer: Sealer | null;
  registry: Pick<CarrierRegistry, 'carrierFor'>;
}

export async function checkCarriers(deps: CarrierCheckDeps): Promise<CheckResult[]> {
  const lines = await deps.database.query<LineRow>(
    `SELECT l.id, l.workspace_id, w.slug, l.number, l.carrier, l.credentials_sealed
     FROM phone_lines l JOIN workspaces w ON w.id = l.workspace_id WHERE l.deleted_at IS NULL ORDER BY w.slug, l.id`,
  );
  if (lines.length === 0) {
    return [
      warn(
        'carriers',
        'there is no phone line yet',
        `Add one: parley line add <workspace> --number … --carrier ${CARRIER_NAMES.join('|')}`,
      ),
    ];
  }
  const asked = new Map<object, Promise<CheckResult[]>>();
  const results = await Promise.all(lines.map((line) => checkLine(deps, line, asked)));
  const clocks = new Map(results.flat().map((result) => [`${result.name} ${result.detail}`, result]));
  return [...clocks.values()];
}

async function checkLine(
  deps: CarrierCheckDeps,
  line: LineRow,
  asked: Map<object, Promise<CheckResult[]>>,
): Promise<CheckResult[]> {
  const name = `line …${line.number.slice(-4)} of ${line.slug}`;
  const store = `Store them: parley line credentials ${line.slug} ${line.id} ${credentialOptions(line.carrier)}`;
  if (line.credentials_sealed === null) return [warn(name, `no ${line.carrier} credentials`, store)];
  if (deps.sealer === null) return [warn(name, 'its credentials cannot be opened without the master key', MASTER_KEY)];
  const opened = openCarrier(
    { sealer: deps.sealer, registry: deps.registry },
    { ...line, sealed: line.credentials_sealed },
  );
  if (opened.kind === 'sealed') {
    return [fail(name, 'its credentials do not open under this master key', `${MASTER_KEY} ${store}`)];
  }
  if (opened.kind === 'incomplete') return [fail(name, `its credentials lack ${opened.missing.join(', ')}`, store)];
  const { carrier } = opened;
  // Lines of one account share the carrier object, and one answer does for all of them.
  let answer = asked.get(carrier);
  if (answer === undefined) {
    answer = askCarrier(carrier, store);
    asked.set(carrier, answer);
  }
  return (await answer).map((result) => ({ ...result, name: result.name === '' ? name : result.name }));
}

/** The first result has no name yet: it is each line's. */
async function askCarrier(carrier: ReturnType<CarrierRegistry['carrierFor']>, store: string): Promise<CheckResult[]> {
  if (carrier.checkAccess === undefined) return [ok('', `${carrier.name} cannot be asked; its credentials are there`)];
  const { outcome, detail, serverEpochMs } = await carrier.checkAccess();
  const clock =
    serverEpochMs === null
      ? []
      : [skewResult(`clock against ${carrier.name}`, serverEpochMs + 500 - Date.now(), SKEW_WARN_MS, SKEW_FAIL_MS)];
  if (outcome === 'ok') return [ok('', `${carrier.name} takes its credentials`), ...clock];
  if (outcome === 'refused') return [fail('', `${carrier.name} refuses its credentials (${detail})`, store), ...clock];
  const way = `Check the network and ${apiBaseVariable(carrier.name)}.`;
  return [fail('', `${carrier.name} could not be asked (${detail})`, way), ...clock];
}

const MASTER_KEY = 'Set PARLEY_MASTER_KEY to the key under which they were stored.';
