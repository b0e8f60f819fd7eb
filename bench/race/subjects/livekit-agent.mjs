/**
 * `@livekit/agents` behind Plivo's streams, without a room, as its documentation puts a session together: the
 * recogniser, the model and the voice by its own plugins, caller and agent by its audio input and output. Copied into
 * the folder where its packages are installed and started there by `other.ts`; prints its address, ends on SIGTERM.
 * `RACE_DETECTOR`: `bundled`, `silero` or `none`; `RACE_PROCESSES=job`: a process for each conversation.
 */
import { fork } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { initializeLogger, voice } from '@livekit/agents';
import * as deepgram from '@livekit/agents-plugin-deepgram';
import * as elevenlabs from '@livekit/agents-plugin-elevenlabs';
import * as openai from '@livekit/agents-plugin-openai';
import * as silero from '@livekit/agents-plugin-silero';
import { AudioFrame } from '@livekit/rtc-node';
import { WebSocketServer } from 'ws';

const providers = process.env.RACE_PROVIDERS;
const detector = process.env.RACE_DETECTOR ?? 'bundled';
const isJob = process.argv[2] === 'job';
const RATE_HZ = 8_000;

initializeLogger({ pretty: false, level: 'error' });
// As a worker's prewarm does: one model for all sessions of a process.
const loadedVad = detector === 'silero' ? silero.VAD.load() : Promise.resolve(undefined);

const decode = new Int16Array(256);
const encode = new Uint8Array(65_536);
for (let code = 0; code < 256; code++) {
  const inverted = ~code & 0xff;
  const magnitude = (((inverted & 15) * 8 + 132) << ((inverted >> 4) & 7)) - 132;
  decode[code] = inverted & 0x80 ? -magnitude : magnitude;
}
for (let sample = -32_768; sample < 32_768; sample++) {
  const biased = Math.min(Math.abs(sample), 32_635) + 132;
  const exponent = 31 - Math.clz32(biased) - 7;
  const code = (sample < 0 ? 0x80 : 0) | (exponent << 4) | ((biased >> (exponent + 3)) & 15);
  encode[sample & 0xffff] = ~code & 0xff;
}

class CallerInput extends voice.AudioInput {
  #controller;

  constructor() {
    super();
    const frames = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.multiStream.addInputStream(frames);
  }

  push(mulaw) {
    const pcm = new Int16Array(mulaw.length);
    for (let i = 0; i < mulaw.length; i++) pcm[i] = decode[mulaw[i]];
    this.#controller.enqueue(new AudioFrame(pcm, RATE_HZ, 1, pcm.length));
  }

  end() {
    this.#controller.close();
  }
}

/** Hands each frame on at once, and reckons what of it has been played. */
class CallerOutput extends voice.AudioOutput {
  #socket;
  #beganAtMs = 0;
  #pushedMs = 0;
  #timer;

  constructor(socket) {
    super(RATE_HZ, undefined, { pause: false });
    this.#socket = socket;
  }

  async captureFrame(frame) {
    await super.captureFrame(frame);
    const nowMs = performance.now();
    if (this.#pushedMs === 0) {
      this.#beganAtMs = nowMs;
      this.onPlaybackStarted(Date.now());
    }
    const { data } = frame;
    const mulaw = Buffer.allocUnsafe(data.length);
    for (let i = 0; i < data.length; i++) mulaw[i] = encode[data[i] & 0xffff];
    this.#pushedMs += (data.length * 1_000) / RATE_HZ;
    const media = { contentType: 'audio/x-mulaw', sampleRate: RATE_HZ, payload: mulaw.toString('base64') };
    this.#socket.send(JSON.stringify({ event: 'playAudio', media }));
  }

  flush() {
    super.flush();
    if (this.#pushedMs === 0) return;
    clearTimeout(this.#timer);
    const leftMs = this.#beganAtMs + this.#pushedMs - performance.now();
    this.#timer = setTimeout(() => this.#finished(this.#pushedMs, false), Math.max(0, leftMs));
  }

  clearBuffer() {
    if (this.#pushedMs === 0) return;
    this.#socket.send(JSON.stringify({ event: 'clearAudio' }));
    this.#finished(Math.min(this.#pushedMs, performance.now() - this.#beganAtMs), true);
  }

  #finished(playedMs, interrupted) {
    clearTimeout(this.#timer);
    this.#pushedMs = 0;
    this.onPlaybackFinished({ playbackPosition: playedMs / 1_000, interrupted });
  }
}

async function hold(socket) {
  const input = new CallerInput();
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.event === 'media') input.push(Buffer.from(message.media.payload, 'base64'));
  });
  const vad = await loadedVad;
  const session = new voice.AgentSession({
    ...(detector === 'none' ? { vad: null } : vad === undefined ? {} : { vad }),
    stt: new deepgram.STT({ apiKey: 'race', baseUrl: providers.replace(/^http/, 'ws'), sampleRate: RATE_HZ }),
    llm: new openai.LLM({ apiKey: 'race', baseURL: `${providers}/v1`, model: 'gpt-4.1-mini' }),
    tts: new elevenlabs.TTS({ apiKey: 'race', baseURL: `${providers}/v1`, encoding: 'pcm_8000' }),
    // The detector of turns and the adaptive one of interruptions ask LiveKit's servers.
    turnHandling: { turnDetection: detector === 'none' ? 'stt' : 'vad', interruption: { mode: 'vad' } },
    // Otherwise nobody may interrupt in the first seconds.
    aecWarmupDuration: null,
  });
  session.input.audio = input;
  session.output.audio = new CallerOutput(socket);
  const agent = new voice.Agent({ instructions: 'You answer questions about a restaurant, in a sentence.' });
  session.on('error', ({ error }) => process.stderr.write(`${error?.error ?? error}\n`));
  socket.on('close', () => {
    session.close().then(
      () => isJob && process.exit(0),
      () => isJob && process.exit(1),
    );
  });
  await session.start({ agent });
}

/** Takes connections that another process has accepted. */
function serve() {
  const server = createHttpServer();
  new WebSocketServer({ server }).on('connection', (socket) => {
    hold(socket).catch((error) => process.stderr.write(`${error.stack}\n`));
  });
  return server;
}

const tell = (port) => console.log(JSON.stringify({ url: `ws://127.0.0.1:${port}/` }));

if (isJob) {
  const server = serve();
  process.on('message', (_, socket) => {
    server.emit('connection', socket);
    socket.resume();
  });
  process.on('disconnect', () => process.exit(0));
  process.send('ready');
} else if (process.env.RACE_PROCESSES === 'job') {
  const file = fileURLToPath(import.meta.url);
  const idle = [];
  // As its workers do, one is kept ready.
  const prepare = () => {
    const child = fork(file, ['job']);
    child.once('message', () => idle.push(child));
  };
  prepare();
  const door = createServer({ pauseOnConnect: true }, (socket) => {
    const give = () => {
      const child = idle.shift();
      if (child === undefined) setTimeout(give, 20);
      else {
        child.send('call', socket);
        prepare();
      }
    };
    give();
  });
  door.listen(0, '127.0.0.1', () => tell(door.address().port));
} else {
  await loadedVad;
  const server = serve();
  server.listen(0, '127.0.0.1', () => tell(server.address().port));
}

process.on('SIGTERM', () => process.exit(0));
// Who started it is gone.
if (!isJob) process.stdin.resume().once('end', () => process.exit(0));
