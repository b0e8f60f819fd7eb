/** A chat endpoint on loopback behind the port, on a virtual clock; for the port's suite and others. */
import { remoteModelOf } from '../../../../../media/engines/provider/remote-model.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import type { ModelCase } from '../model-conformance.ts';
import { grantOf, providerHarness } from '../provider-harness.ts';
import { type PlayScene, startFakeChat } from './fake-chat-server.ts';

const CHAT = { service: 'openai-chat', play: undefined as PlayScene | undefined };

/** `wire`: which protocol is spoken. */
export async function chatCase(settings: Record<string, unknown> = { model: 'small' }, change = {}, wire = CHAT) {
  const server = await startFakeChat(wire.play);
  const clock = new VirtualClock();
  const harness = providerHarness({ clock });
  harness.grant('call-1', grantOf({ baseUrl: server.baseUrl, ...change }));
  const port = harness.connect();
  const model = remoteModelOf(wire.service)(() => port)({ callUuid: 'call-1', connection: 'main', settings });
  const one: ModelCase = {
    model,
    scene: (scene) => server.scene(scene),
    requests: () => server.seen,
    async pass(ms) {
      clock.advanceMs(ms);
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
