/** `parley dialling`: what the operator lets a workspace dial, how much a day, and what it has had of today. */
import type { Command } from 'commander';
import { calledAndRefusedNow, type DialOverview, readDialOverview } from '../dialling/dial-overview.ts';
import { changeDialPolicy } from '../dialling/dial-policy.ts';
import { type Destination, KIND_MEANINGS, NUMBER_KINDS, type NumberKind } from '../dialling/number-kinds.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, given, listOf, wholeNumber } from './command-io.ts';

interface DiallingOptions {
  countries?: string;
  blockCountries?: string;
  kinds?: string;
  maxCall?: number | 'none';
  callsPerDay?: number | 'none';
  minutesPerDay?: number | 'none';
  keyCallsPerDay?: number | 'none';
  keyMinutesPerDay?: number | 'none';
}

export function addDiallingCommand(program: Command, io: CommandIo): void {
  const kinds = NUMBER_KINDS.map((kind) => `  ${kind}: ${KIND_MEANINGS[kind]}`).join('\n');
  program
    .command('dialling <slug>')
    .description('show what a workspace may dial and how much a day, or change what is given; no key of it can')
    .option('--countries <list>', 'beside those of its lines, like GB,FR; any: all; none: only those')
    .option('--block-countries <list>', 'never these, also of its lines; none: no block')
    .option('--kinds <list>', 'costly kinds of numbers, see below; none: ordinary numbers alone')
    .option('--max-call <seconds>', 'no call lasts longer; none: as its agent says', numberOrNone)
    .option('--calls-per-day <calls>', 'of the workspace, in UTC; none: no ceiling', numberOrNone)
    .option('--minutes-per-day <minutes>', 'of talk; none: no ceiling', numberOrNone)
    .option('--key-calls-per-day <calls>', 'of each key, with the keys that it has made', numberOrNone)
    .option('--key-minutes-per-day <minutes>', 'the same', numberOrNone)
    .addHelpText('after', `\nKinds:\n${kinds}`)
    .action(async (slug: string, options: DiallingOptions) => {
      const { id } = await findWorkspace(io.database(), slug);
      const change = given({
        countries: options.countries === 'any' ? null : listed(options.countries),
        blockedCountries: listed(options.blockCountries),
        kinds: listed(options.kinds) as NumberKind[] | undefined,
        maxCallSeconds: orNull(options.maxCall),
        callsPerDay: orNull(options.callsPerDay),
        minutesPerDay: orNull(options.minutesPerDay),
        keyCallsPerDay: orNull(options.keyCallsPerDay),
        keyMinutesPerDay: orNull(options.keyMinutesPerDay),
      });
      if (Object.keys(change).length > 0) await changeDialPolicy(io.database(), { slug, change, by: io.by() });
      const overview = await readDialOverview(io.database(), id);
      const refusedNow = await calledAndRefusedNow(io.database(), id);
      io.print({ ...overview, calledAndRefusedNow: refusedNow }, [
        `'${slug}' may call ${whereText(overview)}`,
        `kinds beside ordinary numbers: ${overview.kinds.join(', ') || 'none'}`,
        `a call lasts ${overview.maxCallSeconds === null ? 'as long as its agent says' : `at most ${overview.maxCallSeconds} s`}`,
        `a day: ${ceilingText(overview.callsPerDay, overview.minutesPerDay)}; each key: ${ceilingText(overview.keyCallsPerDay, overview.keyMinutesPerDay)}`,
        ...todayLines(overview),
        ...refusedNow.map(
          (one) => `called in the last 30 days and refused now: ${destinationText(one)}, ${one.calls} calls`,
        ),
      ]);
    });
}

const numberOrNone = (text: string): number | 'none' => (text === 'none' ? text : wholeNumber(text));
const orNull = <Value>(value: Value | 'none'): Value | null => (value === 'none' ? null : value);

function listed(list: string | undefined): string[] | undefined {
  if (list === undefined) return undefined;
  return list === 'none' ? [] : listOf(list);
}

function whereText({ countries: added, ownCountries, blockedCountries }: DialOverview): string {
  const except = blockedCountries.length === 0 ? '' : `, never ${blockedCountries.join(', ')}`;
  if (added === null) return `any country${except}`;
  const named = added.length === 0 ? '' : ` and ${added.join(', ')}`;
  return `the countries of its lines (${ownCountries.join(', ') || 'none yet'})${named}${except}`;
}

function ceilingText(calls: number | null, minutes: number | null): string {
  const parts = [calls === null ? [] : [`${calls} calls`], minutes === null ? [] : [`${minutes} minutes`]].flat();
  return parts.length === 0 ? 'no ceiling' : `at most ${parts.join(' and ')}`;
}

function todayLines({ today }: DialOverview): string[] {
  if (today === null) return [];
  const text = ({
    calls,
    usedSeconds,
    reservedSeconds,
  }: {
    calls: number;
    usedSeconds: number;
    reservedSeconds: number;
  }) =>
    `${calls} calls, ${(usedSeconds / 60).toFixed(1)} minutes, ${(reservedSeconds / 60).toFixed(1)} held by live calls`;
  return [
    `today, until ${dateText(today.resetsAt)}: ${text(today)}`,
    ...today.keys.map((key) => `  key ${key.keyId}: ${text(key)}`),
  ];
}

const destinationText = ({ country, kinds }: Destination): string =>
  [country ?? 'no country', ...(kinds.length === 0 ? [] : [`(${kinds.join(', ')})`])].join(' ');
