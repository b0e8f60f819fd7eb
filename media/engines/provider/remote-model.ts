/** The `LanguageModel` port over a line to the provider threads: one line a request. Pipeline side. */
import type { MessagePort } from 'node:worker_threads';
import type { CallUse, OpenModel } from '../../contract/engine-kinds.ts';
import type { LanguageModel, ModelChunk } from '../../contract/model.ts';
import { type ProviderLine, ProviderLines } from './provider-lines.ts';

/** `service`: by its name in `services.ts`. */
export function remoteModelOf(service: string): (portNow: () => MessagePort) => OpenModel {
  return (portNow) => {
    const lines = new ProviderLines(portNow, service);
    return (use) => modelOver(lines, use);
  };
}

function modelOver(lines: ProviderLines, use: CallUse): LanguageModel {
  return {
    ask(request, onChunk) {
      let isOver = false;
      const tell = (chunk: ModelChunk): void => {
        if (isOver) return;
        isOver = chunk.type === 'done' || chunk.type === 'failed';
        onChunk(chunk);
      };
      let line: ProviderLine | null = null;
      try {
        line = lines.request(use, request, {
          said: (chunk) => tell(chunk as ModelChunk),
          over: (fault, message) =>
            tell({
              type: 'failed',
              fault: fault ?? 'failed',
              message: fault === null ? 'the answer broke off' : message,
            }),
        });
      } catch (error) {
        const message = (error as Error).message;
        queueMicrotask(() => tell({ type: 'failed', fault: 'failed', message }));
      }
      return () => {
        isOver = true;
        line?.close();
      };
    },
  };
}
