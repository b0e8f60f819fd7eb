/** A chat endpoint on loopback behind the port, with time that can be skipped; for the port's suite and others. */
import { systemClock } from '../../../../../media/contract/clock.ts';
import { remoteModelOf } from '../../../../../media/engines/provider/remote-model.ts';
import type { ModelCase } from '../model-conformance.ts';
import { grantOf, providerHarness } from '../provider-harness.ts';
import { type PlayScene, startFakeChat } from './fake-chat-server.ts';

/** Real time, of which as much as is wanted may pass at once. */
export class SkippingClock {
  #skippedMs = 0;
  readonly #timers = new Set<{ atMs: number; run: () => void; cancel: () => void }>();
  nowMs = () => systemClock.nowMs() + this.#skippedMs;
  epochMs = () => systemClock.epochMs();
  after(afterMs: number, run: () => void): () => void {
    const fire = (): void => {
      timer.cancel();
      run();
    };
    const cancelReal = systemClock.after(afterMs, fire);
    const cancel = (): void => {
      this.#timers.delete(timer);
      cancelReal();
    };
    const timer = { atMs: this.nowMs() + afterMs, run: fire, cancel };
    this.#timers.add(timer);
    return cancel;
  }
  skip(ms: number): void {
    this.#skippedMs += ms;
    for (const timer of [...this.#timers]) if (timer.atMs <= this.nowMs()) timer.run();
  }
}

const CHAT = { service: 'openai-chat', play: undefined as PlayScene | undefined };

/** `wire`: which protocol is spoken. */
export async function chatCase(settings: Record<string, unknown> = { model: 'small' }, change = {}, wire = CHAT) {
  const server = await startFakeChat(wire.play);
  const clock = new SkippingClock();
  const harness = providerHarness({ clock });
  harness.grant('call-1', grantOf({ baseUrl: server.baseUrl, ...change }));
  const port = harness.connect();
  const model = remoteModelOf(wire.service)(() => port)({ callUuid: 'call-1', connection: 'main', settings });
  const one: ModelCase = {
    model,
    scene: (scene) => server.scene(scene),
    requests: () => server.seen,
    async pass(ms) {
      clock.skip(ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    die: () => port.close(),
    close() {
      harness.close();
      server.close();
    },
  };
  return { ...one, server, harness, port };
}
