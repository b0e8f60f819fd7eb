/** One of the bots of ten lines as a process of its own, which may be stopped and killed; what it says is counted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface BotProcess {
  /** Of its socket or its answer document. */
  address: string;
  /** Streams that began, and those that ended. */
  opened: number;
  closed: number;
  /** Calls that the carrier ended in order: Twilio's says so. */
  stopped: number;
  kill(signal: NodeJS.Signals): void;
  end(): Promise<void>;
}

/** `struckBy`: sent by it to itself when its second stream has begun; it takes no stream beyond that. */
export async function startBotProcess(carrier: 'plivo' | 'twilio', struckBy: NodeJS.Signals | null = null) {
  const script = fileURLToPath(new URL(`ten-lines/${carrier}.mjs`, import.meta.url));
  const before = struckBy === null ? [] : ['--import', new URL('struck-at-second-stream.mjs', import.meta.url).href];
  const child = spawn(process.execPath, [...before, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(struckBy === null ? {} : { BOT_STRUCK_BY: struckBy }) },
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [address] = (await once(lines, 'line')) as [string];
  const bot: BotProcess = {
    address,
    opened: 0,
    closed: 0,
    stopped: 0,
    kill: (signal) => void child.kill(signal),
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  lines.on('line', (line: 'opened' | 'closed' | 'stopped') => {
    bot[line]++;
  });
  return bot;
}
