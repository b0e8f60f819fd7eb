/**
 * The `SpeechToText` port, heard by the STT thread at the other end of `port`. Called by the pipeline; any number of
 * streams at once. Audio goes over in messages of 80 ms, so that a frame costs no message. It keeps the event loop
 * alive only while a stream is open. When the thread dies, each open stream and each later one gets `onError`: make a
 * new client with a new port then.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Grammar, Recognition, RecognitionStream, SpeechToText } from '../../contract/engines.ts';
import type { FromStt, ToStt } from './stt-messages.ts';

const BATCH_MS = 80;

interface OpenStream {
  onResult: (result: Recognition) => void;
  onError: (error: Error) => void;
}

export function createSpeechToTextClient(port: MessagePort, rateHz: 8000 | 16000): SpeechToText {
  return createSpeechToTextClients(port)(rateHz);
}

/** Clients of one port for legs of different rates: call it once a port. */
export function createSpeechToTextClients(port: MessagePort): (rateHz: 8000 | 16000) => SpeechToText {
  const open = new Map<number, OpenStream>();
  let lastId = 0;
  let gone = false;

  function close(id: number): OpenStream | undefined {
    const stream = open.get(id);
    open.delete(id);
    if (open.size === 0) port.unref();
    return stream;
  }

  const send = (message: ToStt, transfer?: ArrayBuffer): void =>
    port.postMessage(message, transfer === undefined ? [] : [transfer]);

  port.on('message', (message: FromStt) => {
    if (message.type === 'failed') close(message.id)?.onError(new Error(message.message));
    else if (message.type === 'result' && message.result.final) close(message.id)?.onResult(message.result);
    else if (message.type === 'result') open.get(message.id)?.onResult(message.result);
  });
  port.on('close', () => {
    gone = true;
    for (const id of [...open.keys()]) close(id)?.onError(new Error('The listen thread is gone.'));
  });
  port.unref();

  /**
   * Gathers frames into messages; nothing goes over after `finish` or `cancel`, or when the stream has ended otherwise.
   */
  class ClientStream implements RecognitionStream {
    readonly #id: number;
    readonly #batchSamples: number;
    #batch: Int16Array<ArrayBuffer>;
    #filledSamples = 0;
    #isOver = false;

    constructor(id: number, rateHz: number) {
      this.#id = id;
      this.#batchSamples = (BATCH_MS * rateHz) / 1000;
      this.#batch = new Int16Array(this.#batchSamples);
    }

    push(monoSamples: Int16Array): void {
      if (this.#isOver || !open.has(this.#id)) return;
      let from = 0;
      while (from < monoSamples.length) {
        const count = Math.min(monoSamples.length - from, this.#batchSamples - this.#filledSamples);
        for (let i = 0; i < count; i++) this.#batch[this.#filledSamples + i] = monoSamples[from + i]!;
        this.#filledSamples += count;
        from += count;
        if (this.#filledSamples === this.#batchSamples) this.#sendBatch();
      }
    }

    conclude(): void {
      if (this.#isOver || !open.has(this.#id)) return;
      if (this.#filledSamples > 0) this.#sendBatch();
      send({ type: 'conclude', id: this.#id });
    }

    goOn(): void {
      if (!this.#isOver && open.has(this.#id)) send({ type: 'go-on', id: this.#id });
    }

    finish(): void {
      if (this.#isOver || !open.has(this.#id)) return;
      this.#isOver = true;
      if (this.#filledSamples > 0) this.#sendBatch();
      send({ type: 'finish', id: this.#id });
    }

    cancel(): void {
      this.#isOver = true;
      if (close(this.#id) !== undefined) send({ type: 'cancel', id: this.#id });
    }

    #sendBatch(): void {
      const samples =
        this.#filledSamples === this.#batchSamples ? this.#batch : this.#batch.slice(0, this.#filledSamples);
      send({ type: 'audio', id: this.#id, samples }, samples.buffer);
      this.#batch = new Int16Array(this.#batchSamples);
      this.#filledSamples = 0;
    }
  }

  return (rateHz) => ({
    inputRateHz: rateHz,
    open(grammar: Grammar, onResult, onError) {
      const id = ++lastId;
      if (gone) {
        queueMicrotask(() => onError(new Error('The listen thread is gone.')));
        return new ClientStream(id, rateHz);
      }
      open.set(id, { onResult, onError });
      port.ref();
      send({
        type: 'open',
        id,
        rateHz,
        grammar: { phrases: [...grammar.phrases], anywhere: grammar.anywhere === true },
      });
      return new ClientStream(id, rateHz);
    },
  });
}
