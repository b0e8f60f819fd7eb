/**
 * One child process: forked, watched, started again with a growing pause when it dies, drained when asked.
 * A child says `{type:'ready'}` over IPC when it serves; on SIGTERM it refuses new work, finishes and exits 0.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createBackoff } from '../../media/contract/backoff.ts';

export interface ChildOptions {
  name: string;
  /** Built JavaScript. */
  entry: string;
  /** Undefined: not handed on from our own. */
  env: Record<string, string | undefined>;
  /** Flags of node for this child, beside our own. */
  nodeFlags?: readonly string[];
  log(line: string): void;
  /** Takes what the child writes to standard output and error; without it that goes where ours goes. */
  output?(text: string): void;
  /** Every word of the child but `ready`, by its type. */
  said?(type: string): void;
}

export interface SupervisedChild {
  readonly name: string;
  pid(): number | undefined;
  /** It has said `ready`, and lives. */
  isServing(): boolean;
  /** Resolves at the first `ready`; rejects when the child dies before it. */
  ready: Promise<void>;
  /** `{type:'stopping'}`: the whole service ends, active calls get `limitMs`. Said to a child that follows it, too. */
  tellStopping(limitMs: number): void;
  /** SIGTERM, and SIGKILL when it has not gone within `limitMs`. Idempotent. */
  stop(limitMs: number): Promise<void>;
  /** SIGKILL, at once, and no new start. */
  kill(): void;
}

const RESTART_PAUSES = { firstMs: 100, longestMs: 5_000 };
/** A child that lived this long has proved itself: the next pause is short again. */
const STEADY_AFTER_MS = 10_000;

export function superviseChild(options: ChildOptions): SupervisedChild {
  let child: ChildProcess | undefined;
  let isServing = false;
  let stopping = false;
  let stopAtMs: number | null = null;
  const restarts = createBackoff(RESTART_PAUSES);
  let settleReady: { resolve(): void; reject(error: Error): void } | null = null;
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject };
  });

  const tell = (): void => {
    if (stopAtMs === null || !child?.connected) return;
    child.send({ type: 'stopping', limitMs: Math.max(0, Math.round(stopAtMs - performance.now())) }, () => {});
  };

  const launch = (): void => {
    const startedAtMs = performance.now();
    const { output } = options;
    const stream = output === undefined ? 'inherit' : 'pipe';
    child = fork(options.entry, [], {
      env: { ...process.env, ...options.env },
      execArgv: [...process.execArgv, ...(options.nodeFlags ?? [])],
      stdio: ['ignore', stream, stream, 'ipc'],
      // A group of its own: Ctrl-C reaches the supervisor alone, which drains the children in order.
      detached: true,
    });
    if (output !== undefined) {
      for (const source of [child.stdout, child.stderr]) source?.setEncoding('utf8').on('data', output);
    }
    child.on('message', (message) => {
      const { type = '' } = message as { type?: string };
      if (type !== 'ready') {
        options.said?.(type);
        return;
      }
      isServing = true;
      settleReady?.resolve();
      settleReady = null;
    });
    tell();
    child.once('error', (error) => options.log(`${options.name} could not be run: ${error.message}`));
    child.once('exit', (code, signal) => {
      isServing = false;
      if (stopping) return;
      const cause = signal ?? `code ${code}`;
      if (settleReady) {
        settleReady.reject(
          new Error(`${options.name} ended (${cause}) before it was ready; its log lines above say why.`),
        );
        settleReady = null;
        return;
      }
      if (performance.now() - startedAtMs > STEADY_AFTER_MS) restarts.reset();
      const restartMs = restarts.nextMs();
      options.log(`${options.name} ended (${cause}); starting it again in ${restartMs} ms`);
      setTimeout(() => !stopping && launch(), restartMs);
    });
  };
  launch();

  return {
    name: options.name,
    pid: () => child?.pid,
    isServing: () => isServing,
    ready,
    tellStopping(limitMs) {
      stopAtMs = performance.now() + limitMs;
      tell();
    },
    async stop(limitMs) {
      stopping = true;
      const ending = child;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = new Promise<void>((done) => ending.once('exit', () => done()));
      ending.kill('SIGTERM');
      const limit = setTimeout(() => ending.kill('SIGKILL'), limitMs);
      await ended;
      clearTimeout(limit);
    },
    kill() {
      stopping = true;
      child?.kill('SIGKILL');
    },
  };
}
