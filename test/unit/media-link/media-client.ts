/** The media side of the link, as thin as it can be: for tests of control. */
import { connect, type Socket } from 'node:net';
import { ReliableLink } from '../../../media/contract/link.ts';
import type { ToControl, ToMedia } from '../../../media/contract/link-messages.ts';

export class MediaClient {
  readonly received: ToMedia[] = [];
  readonly link: ReliableLink<ToControl, ToMedia>;
  #socket: Socket | null = null;

  constructor(runId: string) {
    this.link = new ReliableLink({
      runId,
      capacity: 10_000,
      write: (line) => void this.#socket?.write(`${line}\n`),
      receive: (message) => void this.received.push(message),
    });
  }

  async connect(path: string): Promise<void> {
    const socket = connect(path);
    this.#socket = socket;
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.link.receiveLine(line);
    });
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    this.link.connected();
  }

  /** The connection breaks; the run lives on. */
  cut(): void {
    this.link.disconnected();
    this.#socket?.destroy();
    this.#socket = null;
  }

  raw(text: string): Promise<void> {
    const socket = this.#socket!;
    socket.write(text);
    return new Promise((resolve) => socket.once('close', () => resolve()));
  }
}
