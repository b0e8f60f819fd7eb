/**
 * What the same work costs on this machine at the moment: a process of its own does a little of what a media process
 * does with a frame (JSON, base64, samples), a hundredth of a core, and says how much processor time it took. Where
 * caches and the memory are shared with others it takes more, whatever a node does.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface SameWork {
  /** Processor time of one piece since the last time that it was asked, in ms. */
  pieceMs(): Promise<number>;
  close(): void;
}

export async function startSameWork(): Promise<SameWork> {
  const child = fork(fileURLToPath(import.meta.url), [], { stdio: 'inherit' });
  await once(child, 'message');
  return {
    async pieceMs() {
      child.send('how much?');
      const [ms] = await once(child, 'message');
      return ms as number;
    },
    close: () => void child.kill(),
  };
}

/** More than the caches of a core hold for itself. */
const FRAMES = 8_000;
const FRAMES_A_PIECE = 100;
const EVERY_MS = 100;
/** Until the code is compiled. */
const WARM_PIECES = 200;

function work(): void {
  const messages = Array.from({ length: FRAMES }, (_, at) =>
    JSON.stringify({ event: 'media', media: { chunk: at, payload: Buffer.alloc(160, at).toString('base64') } }),
  );
  const samples = new Int16Array(160);
  let next = 0;
  let energy = 0;
  const piece = (): void => {
    for (let frame = 0; frame < FRAMES_A_PIECE; frame++) {
      const { media } = JSON.parse(messages[next++ % FRAMES]!) as { media: { payload: string } };
      const bytes = Buffer.from(media.payload, 'base64');
      for (let at = 0; at < samples.length; at++) {
        samples[at] = (bytes[at]! - 128) << 8;
        energy += samples[at]! * samples[at]!;
      }
    }
  };
  for (let at = 0; at < WARM_PIECES; at++) piece();
  let spent = { ms: 0, pieces: 0 };
  setInterval(() => {
    const before = process.cpuUsage();
    piece();
    const { user, system } = process.cpuUsage(before);
    spent = { ms: spent.ms + (user + system) / 1_000, pieces: spent.pieces + 1 };
  }, EVERY_MS);
  process.on('message', () => {
    process.send!(spent.ms / spent.pieces);
    spent = { ms: 0, pieces: 0 };
  });
  process.send!(energy);
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) work();
