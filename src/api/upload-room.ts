/**
 * Room for large bodies. A file that is uploaded stands in control's memory until its request is done, and a client may
 * stop half way; so what a body may have is taken out of a budget before any of it is read, and given back when nothing
 * holds the body any more.
 */
import { finished } from 'node:stream';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { Refusal } from './refusal.ts';

/** Four files of the largest kind for a workspace, and sixteen for all of them. */
const WORKSPACE_BYTES = 40 * 1024 * 1024;
const TOTAL_BYTES = 160 * 1024 * 1024;
const RETRY_SECONDS = 5;

interface Hold {
  readonly workspaceId: string;
  readonly bytes: number;
  /** Its connection, until the answer is out or the client gone; and its handler, while it runs. */
  users: number;
}

export class UploadRoom {
  readonly #byWorkspace = new Map<string, number>();
  readonly #holds = new WeakMap<FastifyRequest, Hold>();
  #bytes = 0;

  /** That are taken now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A hook that stands behind the guard: takes what the body may have, or refuses the request with its body unread. */
  enter(limitBytes: number): onRequestAsyncHookHandler {
    return async (request, reply) => {
      const { 'content-length': said } = request.headers;
      const bytes = said === undefined ? limitBytes : Math.min(Number(said), limitBytes);
      const hold = { workspaceId: request.principal.workspaceId, bytes, users: 1 };
      if (!this.#take(hold)) throw new Refusal('overloaded', { retryAfterSeconds: RETRY_SECONDS });
      this.#holds.set(request, hold);
      finished(reply.raw, () => this.#release(hold));
    };
  }

  /** Runs what uses the whole body: it holds its bytes until then, also when its client has gone meanwhile. */
  async during<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const hold = this.#holds.get(request);
    // Its bytes are given back, and nobody would hear the answer.
    if (hold === undefined || hold.users === 0) throw new Refusal('overloaded', { retryAfterSeconds: RETRY_SECONDS });
    hold.users++;
    try {
      return await work();
    } finally {
      this.#release(hold);
    }
  }

  #take({ workspaceId, bytes }: Hold): boolean {
    const held = this.#byWorkspace.get(workspaceId) ?? 0;
    if (held + bytes > WORKSPACE_BYTES || this.#bytes + bytes > TOTAL_BYTES) return false;
    this.#byWorkspace.set(workspaceId, held + bytes);
    this.#bytes += bytes;
    return true;
  }

  #release(hold: Hold): void {
    hold.users--;
    if (hold.users > 0) return;
    const { workspaceId, bytes } = hold;
    const left = (this.#byWorkspace.get(workspaceId) ?? 0) - bytes;
    if (left > 0) this.#byWorkspace.set(workspaceId, left);
    else this.#byWorkspace.delete(workspaceId);
    this.#bytes -= bytes;
  }
}
