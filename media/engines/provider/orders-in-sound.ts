/**
 * Orders to a provider that mean the sound before them (commit it, end the turn): each waits for its place, behind that
 * sound and before what comes after it. Kept by the socket of a call's sound. Pure.
 */
interface Order {
  message: string;
  /** End of the sound that it means, audio time. */
  behindMs: number;
}

/** More than any pause asks for; a socket may be away for long. */
const MOST_ORDERS = 32;

export class OrdersInSound {
  #waiting: Order[] = [];

  /** False: it waits there already. */
  add(message: string, behindMs: number): boolean {
    if (this.#waiting.some((order) => order.message === message && order.behindMs === behindMs)) return false;
    this.#waiting.push({ message, behindMs });
    if (this.#waiting.length > MOST_ORDERS) this.#waiting.shift();
    return true;
  }

  /** Default: all. */
  drop(message?: string): void {
    this.#waiting = message === undefined ? [] : this.#waiting.filter((order) => order.message !== message);
  }

  /** Gives those to `send` that mean sound before `atMs`, oldest first. False: one was not taken, and waits. */
  send(atMs: number, send: (message: string) => boolean): boolean {
    for (let order = this.#waiting[0]; order !== undefined && order.behindMs <= atMs; order = this.#waiting[0]) {
      if (!send(order.message)) return false;
      this.#waiting.shift();
    }
    return true;
  }
}
