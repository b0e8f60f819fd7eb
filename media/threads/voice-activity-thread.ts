/**
 * Worker thread that scores voice activity for the pipeline threads of one media process. It does nothing but run the
 * model, so it may block: it looks for work each 8 ms while calls are open, which also fills the batches. No message
 * per window. Started by `scoring-host.ts`, told `ToScoring`. It must end by itself when told to stop: the runtime's
 * native code aborts the whole process when its thread is terminated inside a run. What stops it from loading ends it
 * with an error that its parent hears.
 */
import { parentPort } from 'node:worker_threads';
import { loadSilero } from '../engines/local/silero-model.ts';
import { VoiceActivityWindows, type WindowShape } from '../engines/local/voice-activity-windows.ts';
import { type WindowModel, WindowScorer } from '../engines/local/window-scorer.ts';
import { nameThisThread } from '../io/threads/os-thread.ts';

const POLL_MS = 8;
const IDLE_POLL_MS = 100;

/** Written by `media/io/threads/scoring-host.ts`. */
type ToScoring =
  | { type: 'attach'; index: number; shape: WindowShape; memory: SharedArrayBuffer }
  | { type: 'detach'; index: number }
  | { type: 'stop' };

if (parentPort === null) throw new Error('voice-activity-thread is a worker thread: start it with new Worker(…)');
nameThisThread('voice-activity');
const models = new Map<number, Promise<WindowModel>>();
const attached = new Map<number, { windows: VoiceActivityWindows; scorer: WindowScorer }>();
let isStopping = false;

parentPort.on('message', (message: ToScoring) => {
  if (message.type === 'attach') void attach(message);
  else if (message.type === 'detach') attached.delete(message.index);
  else isStopping = true;
});

/** A model that does not load is nobody's to handle: the thread ends. */
async function attach({ index, shape, memory }: Extract<ToScoring, { type: 'attach' }>): Promise<void> {
  const windows = new VoiceActivityWindows(shape, memory);
  const loading = models.get(shape.rateHz) ?? loadSilero(shape.rateHz, windows.inputSamples);
  models.set(shape.rateHz, loading);
  attached.set(index, { windows, scorer: new WindowScorer(windows, await loading) });
}

while (!isStopping) {
  let open = 0;
  for (const { windows, scorer } of attached.values()) {
    await scorer.scoreAll();
    open += windows.openSlots;
  }
  await new Promise((resolve) => setTimeout(resolve, open > 0 ? POLL_MS : IDLE_POLL_MS));
}
parentPort.close();
