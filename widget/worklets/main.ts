/** The one module that `audioWorklet.addModule` loads: both processors, which share the resampler. */
import { CaptureProcessor } from './capture.ts';
import { PlaybackProcessor } from './playback.ts';

registerProcessor('parley-capture', CaptureProcessor);
registerProcessor('parley-playback', PlaybackProcessor);
