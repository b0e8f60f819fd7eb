/** Runs the operator's command line inside the test, and collects what it writes. */
import { runCli } from '../../src/cli/run-cli.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/**
 * `input` is what it reads from standard input. Never rejects for a command's own fault: that is its code and `err`.
 */
export async function runParley(words: string[], environment: Record<string, string>, input = ''): Promise<Ran> {
  const ran: Ran = { code: -1, out: '', err: '' };
  ran.code = await runCli(words, {
    environment,
    write: (text) => {
      ran.out += text;
    },
    writeError: (text) => {
      ran.err += text;
    },
    readInput: async () => input,
  });
  return ran;
}
