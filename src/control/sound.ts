/**
 * What is kept of calls' sound and what is played in them: recordings, clips, and the purge that ends both. Made by
 * `control.ts`.
 */
import { createClips } from '../clips/clips.ts';
import { convertInProcess } from '../clips/convert-file.ts';
import { builtEntry } from '../config/built-entry.ts';
import { createJoiner } from '../recordings/joiner.ts';
import { nodeIdOf } from '../recordings/local-copies.ts';
import { createRecordingUploader } from '../recordings/recording-uploader.ts';
import { openRecordings } from '../recordings/recordings.ts';
import { joinInThread, renderInThread } from '../recordings/renditions.ts';
import { createRetentionPurge } from '../retention/retention-purge.ts';
import type { Ground } from './ground.ts';

const renderThread = (): string => builtEntry('media/threads/render-thread.js');

export type Sound = ReturnType<typeof createSound>;

export function createSound({ config, shared, telling }: Ground) {
  const { dataDir } = config;
  const recordings = openRecordings({
    ...shared,
    settings: config.recordings,
    dataDir,
    render: renderInThread(renderThread),
  });
  const { stores } = recordings;
  const clips = createClips({
    ...shared,
    stores,
    dataDir,
    convert: convertInProcess(() => builtEntry('media/clips/main.js'), config.commandPath),
  });
  const node = nodeIdOf(dataDir);
  const uploader = createRecordingUploader({
    ...shared,
    ...telling,
    store: stores.current,
    node,
    nudgeJoiner: () => joiner.nudge(),
  });
  const joiner = createJoiner({
    ...shared,
    ...telling,
    stores,
    join: joinInThread(renderThread),
    node,
    dataDir,
    joined: uploader.nudge,
  });
  const sweep = async (): Promise<number> => {
    await clips.sweep();
    return recordings.eraser.sweep();
  };
  const purge = createRetentionPurge({ ...shared, eraser: { ...recordings.eraser, sweep } });
  return {
    recordings,
    clips,
    purge,
    node,
    uploader,

    start(): void {
      uploader.start();
      joiner.start();
      purge.start();
    },
    async close(): Promise<void> {
      await uploader.close();
      await joiner.close();
      await purge.close();
      await recordings.close();
    },
  };
}
