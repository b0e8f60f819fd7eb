/** What carriers say on a media socket, as far as the bots and their tests look at it. */
export interface CarrierMessage {
  event: string;
  sequenceNumber: string | number;
  streamSid: string;
  extra_headers: string;
  name: string;
  start: { streamSid: string; streamId: string; callSid: string; customParameters: Record<string, string> };
  media: { payload: string; timestamp: string };
  mark: { name: string };
}
