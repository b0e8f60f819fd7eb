/**
 * Faults in a thread of a running process, brought in from outside by the debugger's protocol: nothing of it is in the
 * code that is tested. Called by the nemesis and by fault tests, on Linux. The processes must have been started with
 * `INSPECTABLE` in their environment.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** Lets SIGUSR1 open the debugger on a port of its own, so that two processes do not meet on one. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect-port=0' } as const;

export const THREAD_DEATHS = ['throw', 'spin', 'out_of_memory', 'exit', 'terminate'] as const;
export type ThreadDeath = (typeof THREAD_DEATHS)[number];

const IN_THREAD: Record<Exclude<ThreadDeath, 'terminate'>, string> = {
  throw: "setImmediate(() => { throw new Error('a fault was put in') }); 0",
  spin: 'setImmediate(() => { for (;;); }); 0',
  out_of_memory:
    'setImmediate(() => { const held = []; for (;;) held.push(new Array(1_000_000).fill(held.length)); }); 0',
  exit: 'setImmediate(() => process.exit(3)); 0',
};
/**
 * A guard against hanging: a machine without time for the process answers late, and a process that is gone closes its
 * socket.
 */
const LIMIT_MS = 60_000;
const LOOK_LIMIT_MS = 10_000;
/** A few of a pipeline thread's. */
const HEARTBEATS_MS = 500;

/** Opens the debugger of a process, which takes a while the first time: so that a fault can be put in at its moment. */
export async function openDebuggerOf(pid: number): Promise<void> {
  (await openDebugger(pid)).close();
}

/**
 * Ends the thread of this name in one of the five ways. Resolves with when it was told to; rejects when there is no
 * such thread.
 */
export async function killThread(pid: number, threadName: string, death: ThreadDeath): Promise<{ atEpochMs: number }> {
  const session = await openDebugger(pid);
  try {
    const workers = await session.workers();
    const worker = workers.find(({ title }) => nameOf(title) === threadName);
    if (worker === undefined) {
      throw new Error(
        `process ${pid} has no thread ${threadName}, only ${workers.map(({ title }) => title).join(', ')}`,
      );
    }
    const atEpochMs = Date.now();
    if (death === 'terminate') await session.terminate(worker.sessionId);
    else await session.evaluateIn(worker.sessionId, IN_THREAD[death]);
    return { atEpochMs };
  } finally {
    session.close();
  }
}

/**
 * Of the threads whose name matches, the one whose loop turned most often in 300 ms: calls wake theirs each 20 ms, a
 * spare sleeps.
 */
export async function busiestThread(pid: number, name: RegExp): Promise<string> {
  const session = await openDebugger(pid);
  try {
    const workers = (await session.workers()).filter(({ title }) => name.test(nameOf(title)));
    const turns = (sessionId: string): Promise<unknown> =>
      session.evaluateIn(sessionId, 'performance.nodeTiming.uvMetricsInfo.loopCount');
    const before = await Promise.all(workers.map(({ sessionId }) => turns(sessionId)));
    await wait(300);
    const after = await Promise.all(workers.map(({ sessionId }) => turns(sessionId)));
    const worked = workers.map((worker, at) => ({
      name: nameOf(worker.title),
      turns: Number(after[at]) - Number(before[at]),
    }));
    const busiest = worked.sort((a, b) => b.turns - a.turns)[0];
    if (busiest === undefined) throw new Error(`process ${pid} has no thread ${name}`);
    return busiest.name;
  } finally {
    session.close();
  }
}

/** The debugger's title is `[worker 3] pipeline-0`. */
function nameOf(title: string): string {
  return title.replace(/^\[worker \d+\] /, '');
}

interface AttachedWorker {
  sessionId: string;
  title: string;
}

interface Debugger {
  workers(): Promise<AttachedWorker[]>;
  /** Resolves with the value, when it is a plain one. */
  evaluateIn(sessionId: string, expression: string): Promise<unknown>;
  terminate(sessionId: string): Promise<void>;
  close(): void;
}

async function openDebugger(pid: number): Promise<Debugger> {
  const socket = await connectTo(pid);
  const answers = new Map<number, (result: Record<string, unknown>) => void>();
  const attached: AttachedWorker[] = [];
  const received = new Set<(sessionId: string, value: unknown) => void>();
  let nextId = 1;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as {
      id?: number;
      method?: string;
      result?: Record<string, unknown>;
      params?: { sessionId: string; message: string; workerInfo: { title: string } };
    };
    if (message.id !== undefined) answers.get(message.id)?.(message.result ?? {});
    if (message.method === 'NodeWorker.attachedToWorker') {
      const { sessionId, workerInfo } = message.params!;
      attached.push({ sessionId, title: workerInfo.title });
    }
    if (message.method === 'NodeWorker.receivedMessageFromWorker') {
      const told = JSON.parse(message.params!.message) as { result?: { result?: { value?: unknown } } };
      for (const tell of received) tell(message.params!.sessionId, told.result?.result?.value);
    }
  });
  const gone = new Promise<never>((_resolve, reject) => {
    socket.once('close', () => reject(new Error(`the debugger of process ${pid} is gone`)));
  });
  // Whoever waits for an answer is told.
  gone.catch(() => {});
  const ask = (method: string, params: object): Promise<Record<string, unknown>> =>
    within(
      `the debugger's answer to ${method}`,
      Promise.race([
        gone,
        new Promise<Record<string, unknown>>((resolve) => {
          const id = nextId++;
          answers.set(id, resolve);
          socket.send(JSON.stringify({ id, method, params }));
        }),
      ]),
    );
  const evaluateIn = async (sessionId: string, expression: string): Promise<unknown> => {
    const done = new Promise<unknown>((resolve) => received.add((from, value) => from === sessionId && resolve(value)));
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
    await ask('NodeWorker.sendMessageToWorker', { sessionId, message });
    return within('the thread to take the fault', Promise.race([gone, done]));
  };
  return {
    async workers() {
      if (attached.length === 0) await ask('NodeWorker.enable', { waitForDebuggerOnStart: false });
      return attached;
    },
    evaluateIn,
    async terminate(sessionId) {
      // The debugger's own number of a thread is not the thread's id.
      const threadId = Number(await evaluateIn(sessionId, "process.getBuiltinModule('node:worker_threads').threadId"));
      // The heap is not searched for the object: its next heartbeat leads to it.
      await ask('Runtime.evaluate', {
        expression: `{
          const { Worker } = process.getBuiltinModule('node:worker_threads');
          const { EventEmitter } = process.getBuiltinModule('node:events');
          Worker.prototype.emit = function (...event) {
            if (this.threadId === ${threadId}) {
              delete Worker.prototype.emit;
              void this.terminate();
            }
            return EventEmitter.prototype.emit.apply(this, event);
          };
        }`,
      });
      await wait(HEARTBEATS_MS);
    },
    close: () => socket.terminate(),
  };
}

async function connectTo(pid: number): Promise<WebSocket> {
  const before = new Set(listeningPorts(pid));
  const isOpen = async (port: number): Promise<string | null> => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(LOOK_LIMIT_MS) });
      const [target] = (await answer.json()) as { webSocketDebuggerUrl?: string }[];
      return target?.webSocketDebuggerUrl ?? null;
    } catch {
      return null;
    }
  };
  const known = debuggerPorts.get(pid);
  let url = known === undefined ? null : await isOpen(known);
  if (url === null) {
    process.kill(pid, 'SIGUSR1');
    for (const untilMs = performance.now() + LIMIT_MS; url === null; ) {
      const port = listeningPorts(pid).find((one) => !before.has(one));
      url = port === undefined ? null : await isOpen(port);
      if (url !== null) debuggerPorts.set(pid, port!);
      else if (performance.now() > untilMs) throw new Error(`process ${pid} opened no debugger`);
      else await wait(20);
    }
  }
  const socket = new WebSocket(url);
  await within('the debugger', new Promise<void>((resolve, reject) => socket.on('open', resolve).on('error', reject)));
  return socket;
}

const debuggerPorts = new Map<number, number>();

/** TCP ports on which the process itself listens, from /proc. */
function listeningPorts(pid: number): number[] {
  const inodes = new Set<string>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed meanwhile.
    }
  }
  const LISTENS = '0A';
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((parts) => parts[3] === LISTENS && inodes.has(parts[9] ?? ''))
    .map((parts) => Number.parseInt(parts[1]!.split(':')[1]!, 16));
}

function within<Value>(what: string, promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    wait(LIMIT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${what} did not come within ${LIMIT_MS} ms`);
    }),
  ]);
}
