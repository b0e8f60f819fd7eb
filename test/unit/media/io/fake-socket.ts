/** A `MediaSocket` whose wire is a list. */
import type { MediaSocket, SendResult } from '../../../../media/io/socket-server/media-socket-server.ts';

export class FakeSocket implements MediaSocket<unknown> {
  readonly data: unknown = null;
  readonly sent: Record<string, unknown>[] = [];
  readonly closes: { code: number; reason: string }[] = [];
  result: SendResult = 'sent';
  isOpen = true;
  bufferedBytes = 0;
  /** Runs inside `close`, as a server's closed callback does. */
  onClose: (() => void) | null = null;

  send(message: Uint8Array): SendResult {
    if (!this.isOpen) return 'dropped';
    this.sent.push(JSON.parse(Buffer.from(message).toString()));
    return this.result;
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.closes.push({ code, reason });
    this.onClose?.();
  }

  events(name: string): Record<string, unknown>[] {
    return this.sent.filter((one) => one['event'] === name);
  }
}
