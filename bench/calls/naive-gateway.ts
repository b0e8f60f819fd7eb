/**
 * The gateway that published examples show, written for comparison: `ws`, JSON.parse for every message, a timer a call,
 * JSON.stringify for every frame. It speaks the same tone and listens to nothing, as our agent kind `tone` does.
 * A process of its own: prints its address, ends on SIGTERM.
 */
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const FRAME_MS = 20;
const frame = Buffer.alloc(160, 0x55);

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${port}` }));
});

let receivedBytes = 0;
server.on('connection', (socket) => {
  let timer: NodeJS.Timeout | undefined;
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.event === 'start') {
      timer = setInterval(() => {
        socket.send(
          JSON.stringify({
            event: 'playAudio',
            media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: frame.toString('base64') },
          }),
        );
      }, FRAME_MS);
    } else if (message.event === 'media') {
      receivedBytes += Buffer.from(message.media.payload, 'base64').length;
    }
  });
  socket.on('close', () => clearInterval(timer));
});

process.on('SIGTERM', () => {
  console.log(JSON.stringify({ receivedBytes }));
  process.exit(0);
});
