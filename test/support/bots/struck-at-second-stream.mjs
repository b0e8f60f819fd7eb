/**
 * Loaded before a bot (`node --import`) that is to be struck when its second stream has begun: it sends itself the
 * signal in `BOT_STRUCK_BY`, and takes no stream beyond the second, however late it learns of it. From outside both
 * would depend on how fast another process is.
 */
import { Server } from 'node:http';

/** A run looks at its target before it calls it. */
const CHECKS = 1;
const STREAMS = 2;
const signal = process.env.BOT_STRUCK_BY;
const { emit } = Server.prototype;
const write = process.stdout.write.bind(process.stdout);
let [upgrades, opened] = [0, 0];

Server.prototype.emit = function (event, ...rest) {
  if (event !== 'upgrade' || ++upgrades <= CHECKS + STREAMS) return emit.call(this, event, ...rest);
  // It is never answered; whoever dialled may break it off.
  rest[1].on('error', () => {});
  return true;
};
process.stdout.write = (line, ...rest) => {
  const isWritten = write(line, ...rest);
  if (line === 'opened\n' && ++opened === STREAMS) process.kill(process.pid, signal);
  return isWritten;
};
