/**
 * Picks the socket server once, at the start of a media process; says which and why, for the
 * log, `hello` and `/readyz`.
 */
import type { SocketServerFactory } from './media-socket-server.ts';
import { loadUws } from './uws-server.ts';
import { createWsServer } from './ws-server.ts';

export interface ChosenServer {
  kind: 'uws' | 'ws';
  create: SocketServerFactory;
  why: string;
}

/** Throws when `uws` was demanded and does not load: a setting that names one is not silently overruled. */
export function chooseSocketServer(wanted: 'auto' | 'uws' | 'ws', load: typeof loadUws = loadUws): ChosenServer {
  if (wanted === 'ws') return { kind: 'ws', create: createWsServer, why: 'the setting socketServer asks for it' };
  const loaded = load();
  if (loaded.ok)
    return { kind: 'uws', create: loaded.create, why: 'its binary loaded and its checksum is the pinned one' };
  if (wanted === 'uws') throw new Error(`socketServer is set to "uws", but ${loaded.why}; set it to "auto" or "ws"`);
  return { kind: 'ws', create: createWsServer, why: loaded.why };
}
