/**
 * Worker thread of the local recogniser. What it cannot do for one stream it tells that stream; a decoder that cannot
 * be made ends the thread, so that its owner sees it. Started by `media/main.ts`.
 */
import { serveSttClient } from '../engines/local/stt-service.ts';
import { withPackages } from '../engines/missing-package.ts';
import { EARS, engineOf } from '../engines/registry.ts';
import { runEngineThread } from './engine-thread.ts';

await runEngineThread(
  'stt-thread',
  async () => {
    const { packages } = engineOf(EARS, 'recogniser', 'local');
    const { loadLocalListener } = await withPackages(
      'The local recogniser',
      packages,
      () => import('../engines/local/local-listener.ts'),
    );
    return loadLocalListener((error) => {
      setImmediate(() => {
        throw error;
      });
    });
  },
  serveSttClient,
);
