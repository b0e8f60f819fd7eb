/**
 * The whole service with the conversation of this folder: emulated providers and carrier in processes of their own, a
 * tool, a callee for each call. Started by the runs and tests of this folder.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import type { ProvidersProcess } from '../../../bench/harness/providers-process.ts';
import { agentOf, type CalleePatience, calleeOf, connectionsTo, providersOfConversation } from './conversation.ts';
import { type MoodyTool, startMoodyTool } from './moody-tool.ts';

export interface Conversations {
  gateway: Gateway;
  dataDir: string;
  providers: ProvidersProcess;
  tool: MoodyTool;
  close(): Promise<void>;
}

export async function startConversations(options: {
  /** Of each call's callee. */
  lines: readonly (readonly string[])[];
  atOnce: number;
  /** Default: that of somebody on a machine that keeps up. */
  patience?: CalleePatience;
  settings?: Record<string, string>;
  /** Of control alone. */
  controlEnv?: Record<string, string>;
  keys?: { key: string; backupKey: string };
  /** Takes what the processes of the service write. */
  output?: (text: string) => void;
}): Promise<Conversations> {
  const { lines, atOnce, patience, settings = {}, controlEnv = {}, keys, output = () => {} } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-cascade-faults-'));
  const tool = await startMoodyTool();
  const providers = await providersOfConversation(keys);
  const closeOwn = async (): Promise<void> => {
    await providers.stop();
    tool.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const gateway = await startGateway({
      dataDir,
      agent: agentOf(tool.url),
      personas: lines.map((own, call) => calleeOf(call, own, patience)),
      connections: connectionsTo(providers),
      environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
      settings,
      controlEnv,
      concurrentCalls: atOnce + 5,
      callsPerSecond: 20,
      volatileDatabase: true,
      log: output,
      childOutput: output,
    });
    return {
      gateway,
      dataDir,
      providers,
      tool,
      async close() {
        await gateway.stop();
        await closeOwn();
      },
    };
  } catch (error) {
    await closeOwn();
    throw error;
  }
}
