/**
 * A socket to a provider that is not there: what the client opened, and what the other side may do to it. Each fake
 * provider says what is understood, and answers.
 */
import type { GuardedSocket, SocketEnd, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';

export abstract class FakeSocket implements GuardedSocket {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  isOpen = false;
  unsentBytes = 0;
  answersPings = true;
  protected isOver = false;
  protected readonly listener: SocketListener;

  constructor(request: SocketRequest, listener: SocketListener) {
    this.listener = listener;
    this.url = new URL(request.url);
    this.headers = request.headers;
  }

  /** The upgrade is taken. */
  protected opened(headers: Record<string, string> = {}): void {
    this.isOpen = true;
    this.listener.opened(headers);
  }

  /** The upgrade is answered with this status. */
  protected refused(status: number, body: string): void {
    this.end({ kind: 'failed', reason: '', isTimeout: false, status, retryAfter: null, body });
  }

  /** As the network or the server does it. */
  end(end: SocketEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isOpen = false;
    this.listener.over(end);
  }

  say(message: object): void {
    this.raw(JSON.stringify(message));
  }

  raw(text: string): void {
    if (!this.isOver) this.listener.message(Buffer.from(text), false);
  }

  send(data: string | Uint8Array): boolean {
    if (!this.isOpen) return false;
    this.heard(data);
    return true;
  }

  protected abstract heard(data: string | Uint8Array): void;

  ping(): void {
    if (this.answersPings) this.listener.pong?.();
  }

  close(code = 1000): void {
    this.end({ kind: 'closed', code, reason: '' });
  }

  terminate(): void {
    this.isOver = true;
    this.isOpen = false;
  }
}
