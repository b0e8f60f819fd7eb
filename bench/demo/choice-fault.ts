/** What is wrong with the options' values, before anything starts. Pure; called by `main.ts`. */
import { type ProviderChoice, partiesOf } from './restaurant/providers.ts';

const OF_CASCADE = ['listen', 'think', 'speak'] as const;

/** `given`: the options that were on the command line. Null: nothing is wrong. */
export function choiceFault(
  values: ProviderChoice & { agent: string },
  given: ReadonlySet<string>,
  agents: readonly string[],
): string | null {
  if (!agents.includes(values.agent)) return `--agent knows ${agents.join(' and ')}, not '${values.agent}'`;
  const unused = OF_CASCADE.filter((name) => given.has(name)).map((name) => `--${name}`);
  if (values.agent !== 'cascade' && unused.length > 0) {
    const [are, them] = unused.length === 1 ? ['is', 'it'] : ['are', 'them'];
    return `${unused.join(' and ')} ${are} of a cascade, and the ${values.agent} agent has no providers: add --agent cascade, or leave ${them} out`;
  }
  try {
    partiesOf(values);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
