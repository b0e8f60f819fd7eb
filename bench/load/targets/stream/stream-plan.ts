/** What the stream target is told to call, as plain data: made by the command line, read in a far-end process. */
import type { ProtocolName } from './protocols.ts';

export interface StreamPlan {
  kind: 'stream';
  protocol: ProtocolName;
  /** `--stream`: the socket that is dialled straight (ws or wss); `--answer-url`: where the carrier asks what to do. */
  address: { streamUrl: string } | { answerUrl: string; answerMethod: 'GET' | 'POST' };
  /** Sent with the upgrade (and the request for the document) beside the carrier's own. */
  headers: Readonly<Record<string, string>>;
  /** Custom parameters of the stream's start (Plivo: extra headers); those of a document come on top. */
  parameters: Readonly<Record<string, string>>;
  /** Requests are signed with it as the carrier does; null: they are not. */
  authToken: string | null;
  /** Of the far end's jitter buffer, behind which gaps are judged. */
  gapBufferMs: number;
  /** The target plays the known signal, by which lost and repeated audio is told. */
  expectSignal: boolean;
  /** Where the sound of calls is written; null: none is kept. */
  soundFolder: string | null;
}

/** Without query, user and password: what a report may show. */
export function addressOf({ address }: StreamPlan): string {
  const { protocol, host, pathname } = new URL('streamUrl' in address ? address.streamUrl : address.answerUrl);
  return `${protocol}//${host}${pathname}`;
}
