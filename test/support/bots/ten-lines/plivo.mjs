/**
 * The same on Plivo audio streams, found by its answer URL: beeps hello, and says back what it heard once the caller is
 * silent. A program of its own with `ws` alone: `node plivo.mjs [port]`.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const HELLO = Buffer.from(Array.from({ length: 2_400 }, (_, i) => (i % 16 < 8 ? 0x90 : 0x10))).toString('base64');
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/xml');
  response.end(
    `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">ws://${request.headers.host}/stream</Stream></Response>`,
  );
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}/answer\n`),
);
new WebSocketServer({ server }).on('connection', (socket) => {
  let isOpen = false;
  let [heard, quietFrames] = [[], 0];
  const media = (payload) => ({ contentType: 'audio/x-mulaw', sampleRate: 8000, payload });
  const say = (payload) => socket.send(JSON.stringify({ event: 'playAudio', media: media(payload) }));
  socket.on('close', () => isOpen && process.stdout.write('closed\n'));
  socket.on('message', (text) => {
    const message = JSON.parse(text);
    if (message.event === 'start') {
      isOpen = true;
      process.stdout.write('opened\n');
      say(HELLO);
    }
    if (message.event !== 'media') return;
    const frame = Buffer.from(message.media.payload, 'base64');
    const isQuiet = frame.every((byte) => byte === 0xff);
    if (!isQuiet || heard.length > 0) heard.push(frame);
    quietFrames = isQuiet ? quietFrames + 1 : 0;
    if (heard.length === 0 || quietFrames < 15) return;
    say(Buffer.concat(heard).toString('base64'));
    heard = [];
  });
});
