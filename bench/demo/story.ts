/**
 * Prints a conversation as it happens, one line an event, with seconds since the call was placed. Knows how things
 * look, not where they come from.
 */
import pc from 'picocolors';

export interface Story {
  heading(text: string): void;
  line(mark: string, text: string): void;
  agent(text: string, note?: string): void;
  callee(text: string, note?: string): void;
  figure(name: string, value: string): void;
  failure(text: string): void;
}

const NAME_WIDTH = 22;

/** `secondsOf` gives the seconds since the call was placed, or null before it. */
export function tellStory(secondsOf: () => number | null, write: (line: string) => void): Story {
  const stamp = (): string => {
    const seconds = secondsOf();
    return pc.dim(seconds === null ? '         ' : `${seconds.toFixed(2).padStart(7)} s`);
  };
  const say = (who: string, text: string, note?: string): void =>
    write(`${stamp()}  ${who} ${text}${note ? pc.dim(`  (${note})`) : ''}`);
  return {
    heading: (text) => write(`\n${pc.bold(text)}`),
    line: (mark, text) => write(`${stamp()}  ${pc.dim(mark.padEnd(7))} ${text}`),
    agent: (text, note) => say(pc.cyan('agent  '), text, note),
    callee: (text, note) => say(pc.yellow('callee '), text, note),
    figure: (name, value) => write(`           ${name.padEnd(NAME_WIDTH)} ${pc.bold(value)}`),
    failure: (text) => write(`${stamp()}  ${pc.red('FAILED  ')}${text}`),
  };
}
