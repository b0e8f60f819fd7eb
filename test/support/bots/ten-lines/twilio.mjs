/**
 * A voice bot on Twilio Media Streams as somebody writes it on an evening, from the carrier's documents: it beeps
 * hello, and says back what it heard once the caller is silent. A program of its own with `ws` alone:
 * `node twilio.mjs [port]`.
 */
import { WebSocketServer } from 'ws';

const HELLO = Buffer.from(Array.from({ length: 2_400 }, (_, i) => (i % 16 < 8 ? 0x90 : 0x10))).toString('base64');
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0) });
server.on('listening', () => process.stdout.write(`ws://127.0.0.1:${server.address().port}/media\n`));
server.on('connection', (socket) => {
  let streamSid = '';
  let [heard, quietFrames] = [[], 0];
  const say = (payload) => socket.send(JSON.stringify({ event: 'media', streamSid, media: { payload } }));
  socket.on('close', () => streamSid !== '' && process.stdout.write('closed\n'));
  socket.on('message', (text) => {
    const { event, start, media } = JSON.parse(text);
    if (event === 'start') {
      streamSid = start.streamSid;
      process.stdout.write('opened\n');
      say(HELLO);
    }
    if (event === 'stop') process.stdout.write('stopped\n');
    if (event !== 'media') return;
    const frame = Buffer.from(media.payload, 'base64');
    const isQuiet = frame.every((byte) => byte === 0xff);
    if (!isQuiet || heard.length > 0) heard.push(frame);
    quietFrames = isQuiet ? quietFrames + 1 : 0;
    if (heard.length === 0 || quietFrames < 15) return;
    say(Buffer.concat(heard).toString('base64'));
    heard = [];
  });
});
