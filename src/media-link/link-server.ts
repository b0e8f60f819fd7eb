/**
 * The socket on which media processes talk to control: JSON lines on a private Unix socket, one reliable link a media
 * run. Only moves lines; what they mean is the peer's. Made in `src/control/media-link.ts`.
 */

import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { MOST_LINE_BYTES } from '../../media/contract/link.ts';
import { MediaPeer, type MediaPeerDeps, type PeerTransport } from './media-peer.ts';

export interface LinkServer {
  listen(socketPath: string): Promise<void>;
  /** A connected process carries the call, or what one said of it is not written yet. */
  mayStillSpeak(callUuid: string): boolean;
  /** Something that a process has said about the call is not written yet; as somebody asks, it is now. */
  hasUnwritten(callUuid: string): boolean;
  /** What was said of any call is written now. */
  hurry(): void;
  /** Messages of media that wait for their transaction, over all runs. */
  unhandledCount(): number;
  /** This run was given up by another node. */
  fenced(runId: string): void;
  /** Stops reading; what is in hand is finished or given up. Idempotent. */
  close(): Promise<void>;
}

const ACK_EVERY_MS = 1_000;
/** A process that lives connects again within a second. */
const LOST_AFTER_MS = 3_000;
/** Runs that are gone for so long are forgotten: their process was replaced. */
const FORGET_AFTER_MS = 10 * 60_000;

export function createLinkServer(deps: MediaPeerDeps): LinkServer {
  const { clock, log } = deps;
  /** By the run's id. */
  const peers = new Map<string, MediaPeer>();
  const goneSinceMs = new Map<string, number>();
  /** Runs that are gone, and have been told of so. */
  const lost = new Set<string>();
  const sockets = new Set<Socket>();
  let closed = false;
  let cancelAck: (() => void) | null = null;

  function peerOfRun(runId: string): MediaPeer {
    let peer = peers.get(runId);
    if (peer === undefined) {
      peer = new MediaPeer(deps, runId);
      peers.set(runId, peer);
    }
    goneSinceMs.delete(runId);
    lost.delete(runId);
    return peer;
  }

  function serve(socket: Socket): void {
    sockets.add(socket);
    let runId: string | null = null;
    let peer: MediaPeer | null = null;
    const transport: PeerTransport = {
      write: (line) => void socket.write(`${line}\n`),
      setPaused: (paused) => void (paused ? socket.pause() : socket.resume()),
    };
    const onLine = (line: string): void => {
      if (peer === null) {
        runId = runIdOf(line);
        peer = peerOfRun(runId);
        peer.connect(transport);
      }
      peer.receiveLine(line);
    };
    readLines(socket, onLine, (error) => {
      log.warn({ mediaId: peer?.mediaId, err: error }, 'a media connection spoke no sense and was cut');
      socket.destroy();
    });
    socket.on('error', (error) => log.debug({ mediaId: peer?.mediaId, err: error }, 'a media connection broke'));
    socket.on('close', () => {
      sockets.delete(socket);
      if (peer === null || runId === null) return;
      peer.disconnect(transport);
      if (!peer.connected) goneSinceMs.set(runId, clock.nowMs());
      if (!closed)
        log[peer.draining ? 'info' : 'warn']({ mediaId: peer.mediaId }, 'a media process is not connected any more');
    });
  }

  const server: Server = createServer(serve);
  server.on('error', (error) => log.error({ err: error }, 'the media link failed'));

  /** Its process was started anew, and will not come back. */
  function isReplaced(gone: MediaPeer | undefined): boolean {
    return [...peers.values()].some((peer) => peer !== gone && peer.connected && peer.mediaId === gone?.mediaId);
  }

  function tick(): void {
    for (const peer of peers.values()) peer.ackNow();
    for (const [runId, sinceMs] of goneSinceMs) {
      const goneMs = clock.nowMs() - sinceMs;
      const isLost = goneMs >= LOST_AFTER_MS || isReplaced(peers.get(runId));
      if (isLost && !lost.has(runId) && peers.get(runId)?.lost()) lost.add(runId);
      if (goneMs < FORGET_AFTER_MS) continue;
      peers.get(runId)?.close();
      peers.delete(runId);
      goneSinceMs.delete(runId);
      lost.delete(runId);
    }
    cancelAck = clock.after(ACK_EVERY_MS, tick);
  }

  return {
    async listen(socketPath) {
      await rm(socketPath, { force: true });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(socketPath, () => {
          server.off('error', reject);
          resolve();
        });
      });
      tick();
    },
    hasUnwritten: (callUuid) => [...peers.values()].some((peer) => peer.hasUnwritten(callUuid)),
    mayStillSpeak: (callUuid) => [...peers.values()].some((peer) => peer.mayStillSpeak(callUuid)),
    hurry() {
      for (const peer of peers.values()) peer.hurry();
    },
    fenced(runId) {
      for (const peer of peers.values()) if (peer.runId === runId) peer.fenced();
    },
    unhandledCount: () => [...peers.values()].reduce((sum, peer) => sum + peer.unhandledCount, 0),
    async close() {
      if (closed) return;
      closed = true;
      cancelAck?.();
      for (const peer of peers.values()) {
        peer.ackNow();
        // Ended before us, and everything that it said is written: it was stopped in order.
        if (!peer.connected && peer.draining) peer.lost();
        peer.close();
      }
      for (const socket of sockets) socket.destroySoon();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The first line of a connection greets: `{"epochId":"<run>","ack":9}`. */
function runIdOf(line: string): string {
  const { epochId } = JSON.parse(line) as { epochId?: unknown };
  if (typeof epochId !== 'string' || epochId === '') throw new Error('The first line does not greet.');
  return epochId;
}

/** `onLine` may throw; then, and for a line without an end, `onFault` is called once and no line follows. */
function readLines(socket: Socket, onLine: (line: string) => void, onFault: (error: unknown) => void): void {
  let rest = '';
  let broken = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    if (broken) return;
    const lines = chunk.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) if (line !== '') onLine(line);
      if (rest.length > MOST_LINE_BYTES.toControl) {
        throw new Error(`A line is longer than ${MOST_LINE_BYTES.toControl} bytes.`);
      }
    } catch (error) {
      broken = true;
      onFault(error);
    }
  });
}
