/**
 * Other forms of a recording, made when somebody asks and kept for an hour, sealed under the recording's own key:
 * `recordings/forms/<callUuid>.<epoch>.<sha256>.<variant>.<format>.sealed`: a whole that is joined anew is another
 * file, and gets other forms. One rendering a form however many ask, two at once, the rest wait.
 * Rendering is CPU for a decoder: it happens in a thread of its own (`media/threads/render-thread.ts`).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../media/contract/clock.ts';
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import type { SoundForm } from './sound-form.ts';

export interface RenderRequest {
  callUuid: string;
  epoch: number;
  /** Of the stored file that the form is made of. */
  sha256: string;
  form: SoundForm;
  dataKey: Uint8Array;
  /** The whole encrypted stored file; asked for only when the form has to be made. */
  source(): Promise<Uint8Array>;
}

/** As the render thread takes it. */
export interface RenderOrder extends SoundForm {
  source: Uint8Array;
  dataKey: Uint8Array;
  targetPath: string;
}

export type Render = (order: RenderOrder) => Promise<void>;

/** As the render thread takes it: `parts` by where they begin. */
export interface JoinOrder {
  callUuid: string;
  parts: { source: Uint8Array; dataKey: Uint8Array; startMs: number }[];
  totalMs: number;
  dataKey: Uint8Array;
  targetPath: string;
}

/** Aborted, it ends at once and rejects. */
export type Join = (order: JoinOrder, signal: AbortSignal) => Promise<RecordingFacts>;

/** Too many wait already. */
export class RenderingBusy extends Error {}

export interface Renditions {
  /** Path of the encrypted file. Rejects with `RenderingBusy`, or when it cannot be made. */
  obtain(request: RenderRequest): Promise<string>;
  /** Everything that was made of this call. */
  forget(callUuid: string): Promise<number>;
  /** Removes what was made more than an hour ago; called now and then. */
  tidy(): Promise<void>;
}

const AT_ONCE = 2;
const MOST_WAITING = 32;
const KEPT_MS = 3_600_000;
const RENDER_LIMIT_MS = 300_000;

export function createRenditions(deps: { folder: string; clock: Pick<Clock, 'epochMs'>; render: Render }): Renditions {
  const { folder, clock } = deps;
  const making = new Map<string, Promise<string>>();
  const waiting: (() => void)[] = [];
  let busy = 0;
  async function turn(): Promise<void> {
    if (busy < AT_ONCE) {
      busy++;
      return;
    }
    if (waiting.length >= MOST_WAITING) throw new RenderingBusy('too many recordings are being converted');
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function done(): void {
    const next = waiting.shift();
    if (next === undefined) busy--;
    else next();
  }

  async function make(request: RenderRequest, path: string): Promise<string> {
    if ((await stat(path).catch(() => null)) !== null) return path;
    await turn();
    const temporary = join(folder, `.${randomUUID()}.part`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const source = await request.source();
      await deps.render({ ...request.form, source, dataKey: request.dataKey, targetPath: temporary });
      await rename(temporary, path);
      return path;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      done();
    }
  }

  async function removeOld(): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const found = await stat(path).catch(() => null);
      if (found !== null && clock.epochMs() - found.mtimeMs > KEPT_MS) await rm(path, { force: true });
    }
  }

  return {
    obtain(request) {
      const { callUuid, epoch, sha256, form } = request;
      const path = join(folder, `${callUuid}.${epoch}.${sha256}.${form.variant}.${form.format}.sealed`);
      let made = making.get(path);
      if (made === undefined) {
        made = make(request, path).finally(() => making.delete(path));
        making.set(path, made);
      }
      return made;
    },
    async forget(callUuid) {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(`${callUuid}.`));
      for (const name of names) await rm(join(folder, name), { force: true });
      return names.length;
    },
    tidy: removeOld,
  };
}

/** Renders in a thread of its own. `entry` is the built render thread. */
export function renderInThread(entry: () => string): Render {
  return async (order) => void (await inThread(entry(), order));
}

/** Joins in a thread of its own. */
export function joinInThread(entry: () => string): Join {
  return async (order, signal) => {
    const { facts } = await inThread(entry(), order, signal);
    if (facts === undefined) throw new Error('the thread that joins a recording told nothing of it');
    return facts;
  };
}

function inThread(
  entry: string,
  order: RenderOrder | JoinOrder,
  signal?: AbortSignal,
): Promise<{ facts?: RecordingFacts }> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(entry, { workerData: order });
    const stop = (): void => void worker.terminate();
    signal?.addEventListener('abort', stop);
    const timer = setTimeout(() => {
      reject(new Error(`a recording was not converted within ${RENDER_LIMIT_MS / 1000} s`));
      stop();
    }, RENDER_LIMIT_MS);
    worker.on('message', (message: { error?: string; facts?: RecordingFacts }) => {
      if (message.error === undefined) resolve(message);
      else reject(new Error(message.error));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      reject(new Error(`the thread that converts a recording ended with ${code}`));
    });
  });
}
