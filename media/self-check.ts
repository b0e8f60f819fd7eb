/**
 * Which native parts a media process would run with here, as one line of JSON. `parley doctor` runs it in a process of
 * its own: what it loads may be a binary that takes a process down.
 */
import { loadOpusCodec } from './audio/opus-codec.ts';
import { chooseSocketServer } from './io/socket-server/choose-server.ts';

const { kind, why } = chooseSocketServer('auto');
const { implementation } = loadOpusCodec();
process.stdout.write(`${JSON.stringify({ socketServer: { kind, why }, opus: implementation })}\n`);
