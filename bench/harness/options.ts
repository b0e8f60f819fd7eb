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

/** Ends the process after `--help`, with 0, and after an option that does not exist, with 2. */
export function readOptions<const Named extends Options>(usage: Usage<Named>) {
  const config = {
    options: { ...usage.options, help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: usage.positionals ?? false,
  } as const;
  try {
    const { values, positionals } = parseArgs(config as unknown as { options: Named; allowPositionals: boolean });
    if (!(values as { help?: boolean }).help) return { values, positionals };
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
