/**
 * The options of a bench, the demo or an emulator: read, described, and explained by `--help`. An option that does not
 * exist is a fault with the list of those that do, never a run with the defaults.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
/** Of each option, what it means; `<N>` at its beginning names its value. */
type Meanings<Named extends Options> = { [Name in keyof Named]: string };

export interface Usage<Named extends Options> {
  /** As it is called, with what may stand behind it: `npm run fault -- chaos [scenario]`. */
  command: string;
  about: string;
  options: Named;
  meanings: Meanings<Named>;
  /** Words that are no options are taken. */
  positionals?: boolean;
}

/**
 * Ends the process after `--help`, with 0, and after an option that does not exist, with 2. `given`: the names of those
 * that were there, whatever their value.
 */
export function readOptions<const Named extends Options>(usage: Usage<Named>) {
  const config = {
    options: { ...usage.options, help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: usage.positionals ?? false,
    tokens: true,
  } as const;
  try {
    type Config = { options: Named; allowPositionals: boolean; tokens: true };
    const { values, positionals, tokens } = parseArgs(config as unknown as Config);
    const given = new Set(tokens.flatMap((token) => (token.kind === 'option' ? [token.name as string] : [])));
    if (!(values as { help?: boolean }).help) return { values, positionals, given };
    process.stdout.write(helpOf(usage));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${helpOf(usage)}`);
    process.exit(2);
  }
}

export function helpOf<Named extends Options>({ command, about, options, meanings }: Usage<Named>): string {
  const rows = Object.entries(options).map(([name, { type, default: preset }]) => {
    const [, value = type === 'string' ? 'value' : '', meaning] =
      /^(?:<(.+?)> )?(.*)$/.exec(meanings[name as keyof Named]) ?? [];
    const shown = preset === undefined || preset === false ? '' : ` (default ${preset})`;
    return [`  --${name}${value === '' ? '' : ` <${value}>`}`, `${meaning}${shown}`] as const;
  });
  rows.push(['  --help', 'this']);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`usage: ${command}`, '', about, '', ...rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`), ''].join(
    '\n',
  );
}

/**
 * The names of a list like `uws,ws`, as it was given; of what is not `known` the option and what there is are told.
 * Throws for such a name, and for a list that is empty.
 */
export function namesOf<const Name extends string>(option: string, given: string, known: readonly Name[]): Name[] {
  const isKnown = (name: string): name is Name => (known as readonly string[]).includes(name);
  return given.split(',').map((part) => {
    const name = part.trim();
    if (isKnown(name)) return name;
    throw new Error(`--${option}: there is no '${name}'; it takes a list of: ${known.join(', ')}`);
  });
}

/** For a value that cannot be: ends the process, with 2, as an option does that does not exist. */
export function wrongValue(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** A number from `least` to `most`; ends the process, with 2, where it is none. */
export function readNumber(
  option: string,
  given: string,
  { least = Number.MIN_VALUE, most = Number.POSITIVE_INFINITY, isWhole = false } = {},
): number {
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (value >= least && value <= most && Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return value;
  const from = least === Number.MIN_VALUE ? 'above 0' : `from ${least} on`;
  const range = most === Number.POSITIVE_INFINITY ? from : `from ${least} to ${most}`;
  return wrongValue(`--${option} takes a ${isWhole ? 'whole ' : ''}number ${range}, not '${given}'`);
}

/** As `namesOf`, but ends the process, with 2. */
export function readNames<const Name extends string>(option: string, given: string, known: readonly Name[]): Name[] {
  try {
    return namesOf(option, given, known);
  } catch (error) {
    wrongValue((error as Error).message);
  }
}
