/**
 * `parley price …`: what units of providers cost, of which the call log makes the cost of a call. Of the whole service.
 */
import type { Command } from 'commander';
import { PROVIDER_NAMES } from '../../media/contract/providers.ts';
import { USAGE_UNIT_NAMES, USAGE_UNITS, type UsageUnit } from '../../media/contract/usage.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { listPrices, type Price, setPrice } from '../usage/prices.ts';
import { type CommandIo, dateText, table } from './command-io.ts';

export function addPriceCommands(program: Command, io: CommandIo): void {
  const price = program.command('price').description('what units of providers cost: empty until you fill it');

  price
    .command('list')
    .description('what holds now and what will hold')
    .option('--history', 'also what held before')
    .action(async (options: { history?: boolean }) => {
      const prices = await listPrices(io.database(), { history: options.history === true });
      const rows = prices.map((one) => [
        one.provider,
        one.model,
        one.unit,
        priceText(one),
        String(one.version),
        dateText(one.effectiveAt),
      ]);
      const head = ['PROVIDER', 'MODEL', 'UNIT', 'PRICE', 'VERSION', 'SINCE'];
      io.print(prices, table(head, rows, 'There are no prices: the call log shows what calls used, and no amounts.'));
    });

  price
    .command('set <provider> <model> <unit> <price>')
    .description(
      `from now on, or from a time on. Provider: ${PROVIDER_NAMES.join(', ')}. Model: as the provider names it, or '*'. Unit: ${unitsText()}`,
    )
    .option('--currency <code>', 'like USD; one for all prices, the first must name it')
    .option('--from <time>', 'like 2027-01-01T00:00:00Z; in the past: calls since then cost it too')
    .action(
      async (
        provider: string,
        model: string,
        unit: string,
        amount: string,
        options: { currency?: string; from?: string },
      ) => {
        const set = await setPrice(io.database(), {
          provider,
          model,
          unit,
          priceMicros: microsOf(amount),
          currency: options.currency,
          effectiveAt: timeOf(options.from),
          by: io.by(),
        });
        io.print(set, [
          `${set.provider} ${set.model} ${set.unit}: ${priceText(set)}, from ${dateText(set.effectiveAt)} on.`,
        ]);
      },
    );

  price
    .command('remove <provider> <model> <unit>')
    .description('it has no price from now on, or from a time on; what calls cost before stays')
    .option('--from <time>', 'like 2027-01-01T00:00:00Z')
    .action(async (provider: string, model: string, unit: string, options: { from?: string }) => {
      const wanted = { provider, model, unit, priceMicros: null, effectiveAt: timeOf(options.from), by: io.by() };
      const removed = await setPrice(io.database(), wanted);
      io.print(removed, [`${provider} ${model} ${unit} has no price, from ${dateText(removed.effectiveAt)} on.`]);
    });
}

/** `0.0025` of the currency are 2,500 millionths. */
function microsOf(amount: string): number {
  if (!/^\d{1,7}(\.\d{1,12})?$/.test(amount)) {
    throw new OperatorError(
      'invalid',
      `'${amount.slice(0, 40)}' is no price; write it in units of the currency, like 0.0025.`,
    );
  }
  return Number((Number(amount) * 1e6).toFixed(6));
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new OperatorError('invalid', `'${text.slice(0, 40)}' is no time; write it like 2027-01-01T00:00:00Z.`);
}

function priceText({ priceMicros, currency, unit }: Price): string {
  if (priceMicros === null) return 'none';
  const amount = (priceMicros / 1e6).toFixed(12).replace(/\.?0+$/, '');
  return `${amount} ${currency} for ${aboutOf(unit)}`;
}

const aboutOf = (unit: UsageUnit): string => USAGE_UNITS[unit].about;

function unitsText(): string {
  return USAGE_UNIT_NAMES.map((unit) => `${unit} (${aboutOf(unit)})`).join(', ');
}
