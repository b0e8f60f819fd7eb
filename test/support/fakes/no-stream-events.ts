/** For a codec whose events nobody looks at. */
import type { StreamEvents } from '../../../media/io/carriers/media-codec.ts';

export const NO_STREAM_EVENTS: StreamEvents = {
  started() {},
  audio() {},
  digit() {},
  played() {},
  cleared() {},
  stopped() {},
  faulted() {},
};
