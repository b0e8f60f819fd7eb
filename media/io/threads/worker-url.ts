/**
 * Where the thread entries lie. They are built JavaScript: a worker does not strip types on every Node that we support, so a
 * process that runs from sources finds no file here, and says so when the thread starts.
 */

export type ThreadEntry =
  | 'pipeline-thread'
  | 'recorder-thread'
  | 'speech-thread'
  | 'listen-thread'
  | 'provider-thread'
  | 'voice-activity-thread';

export function workerUrl(entry: ThreadEntry): URL {
  return new URL(`../../threads/${entry}.js`, import.meta.url);
}
