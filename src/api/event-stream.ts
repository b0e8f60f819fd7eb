/** An answer of server-sent events: its head, and writing that waits for slow clients. For routes that stream. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Sends the head; from here on the reply is the caller's. */
export function beginEventStream(reply: FastifyReply): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // A stream that ended as the server closes would hold it up for as long as idle connections may live.
    connection: 'close',
  });
  // Nothing may have happened yet: the client must see at once that the stream is open.
  reply.raw.flushHeaders();
}

export function wantsStream(accept: string | undefined): boolean {
  return accept?.includes('text/event-stream') ?? false;
}

/** Resolves when the client can take more; also when it has gone. */
export function writeText(raw: ServerResponse, text: string): Promise<void> {
  if (raw.destroyed || raw.writableEnded || raw.write(text)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}
