/**
 * The floor of every gateway on this machine, a subject of `bench -- calls`: uWebSockets.js and nothing else. What
 * comes is thrown away unread, and each call is sent one constant message a frame on one absolute schedule, so that it
 * keeps time. No codec, no rings, no playhead, no second thread. With TLS of its own where it is given a key and a
 * certificate (`PARLEY_BENCH_TLS`, JSON). A process of its own: prints its address, ends on SIGTERM.
 */
import { loadUwsBinary } from '../../media/io/socket-server/uws-server.ts';

const FRAME_MS = 20;
/** As our own frame clock: calls are served in slots of this length, each in that of its own beginning. */
const SLOT_MS = 2;
const SLOTS = FRAME_MS / SLOT_MS;
const MESSAGE = Buffer.from(
  JSON.stringify({
    event: 'playAudio',
    media: {
      contentType: 'audio/x-mulaw',
      sampleRate: 8000,
      payload: Buffer.alloc(160, 0x55).toString('base64'),
    },
  }),
);

/** What is used of its sockets. */
interface Open {
  send(message: Uint8Array, isBinary: boolean, compress: boolean): unknown;
  getUserData(): { slot: number };
}

const loaded = loadUwsBinary();
if (!loaded.ok) throw new Error(`uWebSockets.js alone cannot be measured: ${loaded.why}`);
const { uws } = loaded;
const bySlot = Array.from({ length: SLOTS }, () => new Set<Open>());
const zeroMs = performance.now();
/** Slots since the beginning, served so far. */
let served = 0;

const dueSlots = (): number => Math.floor((performance.now() - zeroMs) / SLOT_MS);

function serve(): void {
  // Late, it catches up slot by slot: no frame is ever left out.
  for (const due = dueSlots(); served < due; ) {
    served++;
    for (const socket of bySlot[served % SLOTS]!) socket.send(MESSAGE, false, false);
  }
  setTimeout(serve, zeroMs + (served + 1) * SLOT_MS - performance.now());
}

const tls = JSON.parse(process.env['PARLEY_BENCH_TLS'] ?? 'null') as { keyFile: string; certFile: string } | null;
const app = tls === null ? uws.App() : uws.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
app.ws<{ slot: number }>('/*', {
  compression: uws.DISABLED,
  maxPayloadLength: 16 * 1024,
  idleTimeout: 120,
  upgrade(res, req, context) {
    // The next call's first frame is due a whole frame after it came.
    res.upgrade(
      { slot: dueSlots() % SLOTS },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  },
  open: (socket) => void bySlot[socket.getUserData().slot]!.add(socket),
  message() {},
  close: (socket) => void bySlot[socket.getUserData().slot]!.delete(socket),
});
app.listen('127.0.0.1', 0, (token) => {
  if (token === false) throw new Error('uWebSockets.js alone found no port on 127.0.0.1');
  const port = uws.us_socket_local_port(token as unknown as Parameters<typeof uws.us_socket_local_port>[0]);
  console.log(JSON.stringify({ url: `${tls === null ? 'ws' : 'wss'}://127.0.0.1:${port}` }));
  serve();
});

process.on('SIGTERM', () => process.exit(0));
