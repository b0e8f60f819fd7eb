/**
 * The reliable half of the control ⇄ media channel, pure: it turns messages into numbered lines, keeps what was not
 * acknowledged, and sends it again when the transport comes back. Each side has one; the socket
 * is the caller's business.
 *
 *   line:  {"n":17,"ack":9,"m":{…message…}}   or, with nothing to say,   {"ack":9}
 *   first line on every connection:  {"epochId":"<this side's run>","ack":9}
 *
 * A receiver hands each number on once, in order; what it has seen it acknowledges within the next line or `ackNow`.
 * If the other side is a new run (its `epochId` changed), numbering from it starts anew at 1.
 * With `acknowledge: 'when_handled'` a line is acknowledged only once its receiver called `handled`: what it had not
 * finished when it died is sent again to the run that follows.
 * Bounded: over `capacity` unacknowledged messages, `send` returns false and drops the message; the caller counts it. A
 * line that the other side would cut the connection for is not written either, and its message is given up: sent again
 * it would end each connection anew.
 */

/**
 * A line that is longer is no line of the protocol. Agent definitions and the turns of a call
 * that comes back are the longest.
 */
export const MOST_LINE_BYTES = { toControl: 4 * 1024 * 1024, toMedia: 8 * 1024 * 1024 } as const;

export interface ReliableLinkOptions<Out, In> {
  runId: string;
  capacity: number;
  /** Default: no limit. */
  mostLineBytes?: number;
  /** A message is given up: its line would be longer. */
  tooLong?(message: Out, lineBytes: number): void;
  /** Writes one line (without its newline) to the open transport; not called while there is none. */
  write(line: string): void;
  /** `number` is the line's, for `handled`. */
  receive(message: In, number: number): void;
  /** Default `on_receipt`. */
  acknowledge?: 'on_receipt' | 'when_handled';
  /** The other side is another run than before: what it knew is gone. Called before its first message. */
  peerRestarted?(): void;
  /** Bound the type parameter; never called. */
  outType?: (message: Out) => void;
}

interface Line<In> {
  epochId?: string;
  n?: number;
  ack?: number;
  m?: In;
}

/** Acknowledge at least every so many messages, so that the sender's list stays short on a one-way flow. */
const ACK_EVERY = 16;

export class ReliableLink<Out, In> {
  readonly #options: ReliableLinkOptions<Out, In>;
  #unacked: { n: number; message: Out }[] = [];
  #nextNumber = 1;
  #seenNumber = 0;
  /** What the other side is told: up to here it may forget. */
  #ackNumber = 0;
  #sinceAck = 0;
  #connected = false;
  #peerRunId: string | null = null;

  constructor(options: ReliableLinkOptions<Out, In>) {
    this.#options = options;
  }

  get unackedCount(): number {
    return this.#unacked.length;
  }

  /** False when the list is full: the message is dropped. */
  send(message: Out): boolean {
    if (this.#unacked.length >= this.#options.capacity) return false;
    const entry = { n: this.#nextNumber++, message };
    this.#unacked.push(entry);
    if (this.#connected) this.#writeMessage(entry);
    return true;
  }

  /** The transport is up: greet, then repeat what the other side may not have. */
  connected(): void {
    this.#connected = true;
    this.#options.write(JSON.stringify({ epochId: this.#options.runId, ack: this.#ackNumber }));
    for (const entry of [...this.#unacked]) this.#writeMessage(entry);
  }

  disconnected(): void {
    this.#connected = false;
  }

  /** Call now and then (each second is plenty) so that a quiet receiver's acknowledgements still go out. */
  ackNow(): void {
    if (this.#connected && this.#sinceAck > 0) this.#writeAck();
  }

  /** One line from the transport. Throws on text that is no line of this protocol: close the transport then. */
  receiveLine(text: string): void {
    const line = JSON.parse(text) as Line<In>;
    if (line.epochId !== undefined) this.#greeted(line.epochId);
    if (line.ack !== undefined) this.#acked(line.ack);
    if (line.n === undefined || line.m === undefined) return;
    if (line.n <= this.#seenNumber) return;
    this.#seenNumber = line.n;
    if (this.#options.acknowledge !== 'when_handled') this.handled(line.n);
    this.#options.receive(line.m, line.n);
  }

  /**
   * Everything up to this line's number is done with and may be acknowledged. A lower number than before is ignored.
   */
  handled(upToNumber: number): void {
    const upTo = Math.min(upToNumber, this.#seenNumber);
    if (upTo <= this.#ackNumber) return;
    this.#sinceAck += upTo - this.#ackNumber;
    this.#ackNumber = upTo;
    if (this.#sinceAck >= ACK_EVERY) this.ackNow();
  }

  #greeted(peerRunId: string): void {
    if (this.#peerRunId !== null && this.#peerRunId !== peerRunId) {
      this.#seenNumber = 0;
      this.#ackNumber = 0;
      this.#options.peerRestarted?.();
    }
    this.#peerRunId = peerRunId;
  }

  #acked(upTo: number): void {
    const first = this.#unacked[0];
    if (first === undefined || first.n > upTo) return;
    this.#unacked = this.#unacked.filter((entry) => entry.n > upTo);
  }

  #writeMessage({ n, message }: { n: number; message: Out }): void {
    const line = JSON.stringify({ n, m: message, ack: this.#ackNumber });
    // A character has three bytes at most, so that most lines need not be measured.
    const { mostLineBytes = Number.POSITIVE_INFINITY } = this.#options;
    const lineBytes = line.length * 3 < mostLineBytes ? 0 : Buffer.byteLength(line);
    if (lineBytes >= mostLineBytes) {
      this.#unacked = this.#unacked.filter((entry) => entry.n !== n);
      this.#options.tooLong?.(message, lineBytes);
      return;
    }
    this.#sinceAck = 0;
    this.#options.write(line);
  }

  #writeAck(): void {
    this.#sinceAck = 0;
    this.#options.write(JSON.stringify({ ack: this.#ackNumber }));
  }
}
