/**
 * What units of providers cost the operator of the service: one table for all workspaces, empty until the operator
 * fills it, because contracts differ. A price never changes: a new one has the next version and holds from its time on,
 * so that what calls cost before stays as it was. Called by the command line and the operator's routes.
 */
import { isProviderName, PROVIDER_NAMES } from '../../media/contract/providers.ts';
import { USAGE_UNIT_NAMES, type UsageUnit } from '../../media/contract/usage.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';

export interface Price {
  provider: string;
  /** `*`: models of the provider that have no price of their own. */
  model: string;
  unit: UsageUnit;
  version: number;
  /** Millionths of the currency, for as many as `USAGE_UNITS` says; null: it has no price from then on. */
  priceMicros: number | null;
  currency: string;
  effectiveAt: Date;
}

export interface WantedPrice {
  provider: string;
  model: string;
  unit: string;
  priceMicros: number | null;
  /** ISO 4217. Absent: that of the table. */
  currency?: string | undefined;
  /** Absent: now. In the past: calls since then cost it too. */
  effectiveAt?: Date | undefined;
  by?: ChangedBy;
}

const LONGEST_MODEL = 120;
/** A million of the currency. */
const HIGHEST_MICROS = 1e12;
const COLUMNS = `provider, model, unit, version, price_micros::float AS "priceMicros", currency, effective_at AS "effectiveAt"`;
const ORDER = 'ORDER BY provider, model, unit, effective_at, version';

/** What holds now and what will hold; `history`: also what held before. */
export function listPrices(database: Queryable, { history = false }: { history?: boolean } = {}): Promise<Price[]> {
  const isOver = `EXISTS (SELECT 1 FROM provider_prices n
    WHERE (n.provider, n.model, n.unit) = (p.provider, p.model, p.unit) AND n.effective_at <= now()
      AND (n.effective_at, n.version) > (p.effective_at, p.version))`;
  return database.query<Price>(
    history
      ? `SELECT ${COLUMNS} FROM provider_prices p ${ORDER}`
      : `SELECT ${COLUMNS} FROM provider_prices p
          WHERE NOT ${isOver} AND (p.price_micros IS NOT NULL OR p.effective_at > now()) ${ORDER}`,
  );
}

export async function setPrice(database: Database, wanted: WantedPrice): Promise<Price> {
  const { provider, model, priceMicros } = wanted;
  if (!isProviderName(provider)) {
    const known = PROVIDER_NAMES.join(', ');
    throw new OperatorError('invalid', `There is no provider '${provider.slice(0, 80)}'; there are: ${known}.`);
  }
  if (model.trim() === '' || model.length > LONGEST_MODEL || /\p{Cc}/u.test(model)) {
    throw new OperatorError(
      'invalid',
      `\`model\` must be 1 to ${LONGEST_MODEL} characters, as the provider names it, or * for all that have no price of their own.`,
    );
  }
  const unit = checkedUnit(wanted.unit);
  if (priceMicros !== null && !(priceMicros >= 0 && priceMicros <= HIGHEST_MICROS)) {
    throw new OperatorError(
      'invalid',
      `\`priceMicros\` must be a number from 0 to ${HIGHEST_MICROS}: millionths of the currency.`,
    );
  }
  if (wanted.effectiveAt !== undefined && Number.isNaN(wanted.effectiveAt.getTime())) {
    throw new OperatorError('invalid', '`effectiveAt` must be a time like 2027-01-01T00:00:00Z.');
  }
  return database.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('provider-prices', 0)) AS locked`);
    const currency = await checkedCurrency(tx, wanted.currency);
    const [row] = await tx.query<Price>(
      `INSERT INTO provider_prices (provider, model, unit, version, price_micros, currency, effective_at)
       SELECT $1, $2, $3, coalesce(max(version), 0) + 1, $4, $5, coalesce($6::timestamptz, clock_timestamp())
         FROM provider_prices WHERE provider = $1 AND model = $2 AND unit = $3
       RETURNING ${COLUMNS}`,
      [provider, model, unit, priceMicros, currency, wanted.effectiveAt ?? null],
    );
    const after = row!;
    await recordAudit(tx, {
      workspaceId: null,
      by: wanted.by ?? BY_OPERATOR,
      action: priceMicros === null ? 'price.removed' : 'price.set',
      target: `price:${provider}/${model}/${unit}`,
      after,
    });
    return after;
  });
}

function checkedUnit(unit: string): UsageUnit {
  const known = USAGE_UNIT_NAMES.find((name) => name === unit);
  if (known !== undefined) return known;
  throw new OperatorError(
    'invalid',
    `There is no unit '${unit.slice(0, 80)}'; there are: ${USAGE_UNIT_NAMES.join(', ')}.`,
  );
}

/** One for the whole table, so that the parts of a call can be added up. */
async function checkedCurrency(tx: Queryable, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined && !/^[A-Z]{3}$/.test(wanted)) {
    throw new OperatorError('invalid', '`currency` must be three capital letters, like USD.');
  }
  const present = [...new Set((await listPrices(tx)).map(({ currency }) => currency))];
  const [last] = await tx.query<{ currency: string }>(
    'SELECT currency FROM provider_prices ORDER BY created_at DESC, version DESC LIMIT 1',
  );
  const currency = wanted ?? present[0] ?? last?.currency;
  if (currency === undefined)
    throw new OperatorError('invalid', '`currency` is missing: it is the first price; name it, like USD.');
  if (present.every((one) => one === currency)) return currency;
  throw new OperatorError(
    'refused',
    `The prices are in ${present.join(', ')}, and all are in one currency: convert this one, or remove the others first.`,
  );
}
