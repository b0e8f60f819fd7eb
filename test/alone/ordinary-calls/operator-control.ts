/**
 * A call steered while it runs, through the real processes: the API's control actions, the
 * command line's hang-up, the deletion.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { runCli } from '../../../src/cli/run-cli.ts';

const NUMBER = '+14155550177';
const NOTE = 'A colleague of mine will call you back.';

export const listener: PersonaInput = { kind: 'silent', name: 'listener', number: NUMBER, ringMs: 200 };

/**
 * `stage`: the gateway, whose agent says something at once and waits for an answer, and its data folder; there once
 * `beforeAll` is through.
 */
export function testOperatorControl(stage: () => { gateway: Gateway; dataDir: string }): void {
  let gateway: Gateway;
  let dataDir = '';

  beforeAll(() => {
    ({ gateway, dataDir } = stage());
  });

  /** Everything of the call's recording on the disk: stored, converted, on its way. */
  function filesOf(callUuid: string): string[] {
    const paths = readdirSync(join(dataDir, 'recordings'), { recursive: true }).map(String);
    return paths.filter((path) => path.includes(callUuid) && path.endsWith('.sealed'));
  }

  async function ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(
      `${gateway.service.publicUrl}/api/developer/calls${path.startsWith('?') ? '' : '/'}${path}`,
      {
        method,
        headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  test('a live call says what it is told, presses keys, falls silent, is ended at the command line and deleted', async () => {
    const { client, enterprise } = gateway;
    const from = { agentId: gateway.agentId, enterprise, from: gateway.lineId, name: 'Dana' };
    const callUuid = (await client.place({ to: NUMBER, ...from })).body.callUuid!;
    expect((await ask('DELETE', `${callUuid}?kind=all`)).body['code']).toBe('call_live');
    await client.waitFor(callUuid, 'the agent’s first turn', ({ turns }) => turns.length > 0);

    expect((await ask('POST', `${callUuid}/control`, { action: 'say', text: NOTE, interrupt: true })).body).toEqual({
      success: true,
      callUuid,
      action: 'say',
    });
    const told = await client.waitFor(callUuid, 'the note', ({ turns }) => turns.some((turn) => turn.text === NOTE));
    expect(told.turns.find((turn) => turn.text === NOTE)).toMatchObject({
      role: 'agent',
      heardText: NOTE,
      interrupted: false,
    });

    expect((await ask('POST', `${callUuid}/control`, { action: 'dtmf', digits: '12#' })).status).toBe(200);
    expect((await ask('POST', `${callUuid}/control`, { action: 'mute_agent' })).status).toBe(200);
    expect((await ask('POST', `${callUuid}/control`, { action: 'say', text: NOTE })).body['code']).toBe(
      'action_not_possible',
    );
    expect((await ask('POST', `${callUuid}/control`, { action: 'takeover' })).body['code']).toBe(
      'action_not_supported',
    );

    let said = '';
    const environment = { DATABASE_URL: gateway.service.databaseUrl, PARLEY_MASTER_KEY: gateway.service.masterKeyHex };
    const terminal = {
      environment,
      write: (text: string): void => {
        said += text;
      },
      writeError: () => {},
      readInput: async () => '',
    };
    expect(await runCli(['call', 'hangup', enterprise, callUuid], terminal)).toBe(0);
    expect(said).toBe('The call is over: completed/operator_hangup.\n');
    const far = (await gateway.emulator.calls()).find((call) => NUMBER.endsWith(call.to));
    expect(far).toMatchObject({ digits: '12#', protocolFaults: [] });

    await client.waitFor(callUuid, 'the recording', ({ recording }) => recording?.status === 'ready');
    expect((await gateway.recording(callUuid, 'variant=caller&format=wav'))!.subarray(0, 4).toString()).toBe('RIFF');
    expect(filesOf(callUuid)).toHaveLength(2);
    expect((await ask('GET', '?q=%22colleague+of+mine%22')).body['data']).toMatchObject([{ callUuid }]);
    expect((await ask('DELETE', `${callUuid}?kind=all`)).status).toBe(200);
    expect(await gateway.recording(callUuid)).toBeNull();
    expect(filesOf(callUuid)).toEqual([]);
    expect((await ask('GET', '?q=%22colleague+of+mine%22')).body['data']).toEqual([]);
  });
}
