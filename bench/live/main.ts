/**
 * `npm run bench -- live [--sessions 20] [--seconds 20] [--subjects uws,ws]`: what a web session costs the media
 * process, full duplex, PCM beside Opus: CPU per session-second by thread. The agent is a steady tone and hears nobody,
 * so that sockets, rings and codecs are measured and no engine is. What this process, the
 * client, spends does not count.
 */
import { BENCH_ORIGIN } from '../calls/stub-control.ts';
import { startMediaProcess } from '../calls/subjects.ts';
import { cpuBetween, readThreadCpu } from '../calls/thread-cpu.ts';
import { readOptions } from '../harness/options.ts';
import { type LiveAudio, LiveClient } from '../live-client/live-client.ts';

const { values } = readOptions({
  command: 'npm run bench -- live',
  about: 'What a web session costs, PCM beside Opus.',
  options: {
    sessions: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    subjects: { type: 'string', default: 'uws,ws' },
  },
  meanings: { sessions: '<N> at once', seconds: '<N> how long', subjects: '<list> of uws, ws' },
});
const sessions = Number(values.sessions);
const seconds = Number(values.seconds);
const WARM_MS = 5_000;
const KINDS: readonly [string, LiveAudio, LiveAudio][] = [
  ['PCM 16 kHz in, 24 kHz out', { codec: 'pcm_s16le', sampleRate: 16000 }, { codec: 'pcm_s16le', sampleRate: 24000 }],
  ['Opus both ways', { codec: 'opus', sampleRate: 48000 }, { codec: 'opus', sampleRate: 48000 }],
  ['mu-law both ways', { codec: 'mulaw', sampleRate: 8000 }, { codec: 'mulaw', sampleRate: 8000 }],
];

for (const name of values.subjects.split(',')) {
  for (const [kind, input, output] of KINDS) {
    const subject = await startMediaProcess(name === 'ws' ? 'ws' : 'uws', 1, 'fatal');
    const { host } = new URL(subject.urlPrefix);
    const clients = Array.from(
      { length: sessions },
      (_one, at) =>
        new LiveClient({ baseUrl: `http://${host}`, token: `bench-${at}`, parentOrigin: BENCH_ORIGIN, input, output }),
    );
    await Promise.all(clients.map((client) => client.waitForType('session.ready')));
    for (const client of clients) client.begin();
    await wait(WARM_MS);
    const before = readThreadCpu(subject.pid);
    const bytesBefore = clients.reduce((sum, client) => sum + client.bytesReceived, 0);
    const beganAtMs = performance.now();
    await wait(seconds * 1000);
    const after = readThreadCpu(subject.pid);
    const lastedSeconds = (performance.now() - beganAtMs) / 1000;
    const sessionSeconds = lastedSeconds * sessions;
    const bytes = clients.reduce((sum, client) => sum + client.bytesReceived, 0) - bytesBefore;
    const used = cpuBetween(before, after);
    const usedMs = used.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / sessionSeconds;
    const ioMs = (used.find(({ tid }) => tid === subject.pid)?.cpuMs ?? 0) / sessionSeconds;
    console.log(
      `${subject.name.padEnd(18)} ${kind.padEnd(26)} ${sessions} sessions, ${lastedSeconds.toFixed(0)} s: ${usedMs.toFixed(2)} ms CPU a session-second (I/O thread ${ioMs.toFixed(2)}, other threads ${(usedMs - ioMs).toFixed(2)}); ${((bytes * 8) / 1000 / sessionSeconds).toFixed(0)} kbit/s down`,
    );
    for (const client of clients) client.send({ type: 'session.end' });
    await Promise.all(clients.map((client) => client.closed));
    await subject.stop();
  }
}
process.exit(0);

function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
