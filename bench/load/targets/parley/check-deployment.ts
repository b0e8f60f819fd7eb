/**
 * Whether a deployment's calls really arrive at the tool's carrier, tried with one call to a phone that is busy: before
 * a run, so that no load is ever put on a real carrier. Each fault says what to set. Called by the phone target.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { EMULATED_CARRIER } from '../../../../src/carriers/emulated-account.ts';
import { apiBaseVariable } from '../../../../src/carriers/setting-names.ts';
import type { GuestCall } from '../../../emulators/emulator-command.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { type FoundTarget, TargetFault } from '../../contract/target.ts';
import type { Deployment } from '../target-plan.ts';
import { type Placed, sentenceOf } from './placing.ts';
import { serviceVersionOf } from './service-version.ts';

export interface DeploymentCheck {
  deployment: Deployment;
  carrierBase: string;
  authId: string;
  callOnce(
    planned: PlannedCall,
    dialLimitMs: number,
  ): Promise<{ call: MeasuredCall; placed: Placed | null; guest: GuestCall | null }>;
}

const ALIVE_LIMIT_MS = 5_000;
const ARRIVAL_LIMIT_MS = 8_000;
const CALLBACK_LIMIT_MS = 6_000;
const POLL_MS = 50;

/** What each option of the command line is checked by. */
const CODES: Record<string, string> = {
  unauthorized:
    '--api-key or --enterprise: the deployment does not know that key, or it is not of that workspace, or lacks the scope calls:write',
  invalid_from: '--from: that is no line of the workspace; take the id that `npx parley line list <workspace>` shows',
  agent_not_found:
    '--agent: the workspace has no such agent; take an id that `npx parley agent list <workspace>` shows',
  agent_not_outbound: '--agent: its direction is not outbound; take another, or set "direction": "any"',
  blocked_destination:
    '--to: the workspace may not call these numbers; give others, or open them with `npx parley dialling <workspace> --countries …`',
  blocked_time_window: 'the calling hours of the workspace are over; open them with its calling settings',
  credentials_missing: 'the workspace has no line with carrier credentials; add one with `npx parley line add`',
  draining: 'the deployment is being stopped, or has no media process',
};

export async function checkDeployment(check: DeploymentCheck): Promise<FoundTarget> {
  const found = await checkAlive(check.deployment.url);
  const planned = busyCall();
  const { call, placed, guest } = await check.callOnce(planned, ARRIVAL_LIMIT_MS);
  if (guest === null) throw new TargetFault(faultOf(call, placed, check));
  await checkCallbacks(guest, check);
  return found;
}

async function checkAlive(url: string): Promise<FoundTarget> {
  let status: number;
  let version: string | null;
  try {
    const signal = AbortSignal.timeout(ALIVE_LIMIT_MS);
    const answer = await request(`${url}/livez`, { signal });
    status = answer.statusCode;
    version = serviceVersionOf(answer.headers);
    await answer.body.dump();
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string };
    const why = sentenceOf(name === 'TimeoutError' ? 'UND_ERR_TIMEOUT' : (code ?? 'unknown'), url);
    throw new TargetFault(`--url ${url}: ${why}`);
  }
  if (status === 200) return { version };
  throw new TargetFault(
    `--url ${url}: GET /livez was answered ${status}, which is no Parley; give the address under which its API is reached, without a path`,
  );
}

/** The carrier's way out and back, in the words of the operator's settings. */
function faultOf(call: MeasuredCall, placed: Placed | null, check: DeploymentCheck): string {
  const { code, why } = call;
  if (code !== null && Object.hasOwn(CODES, code)) return `${CODES[code]} (${why})`;
  const status = placed?.httpStatus ?? 0;
  if (placed?.callUuid === null && status !== 502 && status !== 500) return `the first call was not taken: ${why}`;
  return [
    placed?.callUuid == null
      ? `the deployment could not place its first call at its carrier: ${why}. Where the carrier refused it, its account or token is not that of this tool (--carrier-id, --carrier-token)`
      : `the deployment took a call, and it did not arrive at this tool's carrier within ${ARRIVAL_LIMIT_MS / 1000} s`,
    '',
    settingsOf(check),
  ].join('\n');
}

/** Printed before a run and with each fault of it. */
export function settingsOf({ deployment, carrierBase, authId }: Omit<DeploymentCheck, 'callOnce'>): string {
  const { enterprise } = deployment;
  return [
    'This tool is the carrier of the run. In the deployment, set',
    `  ${apiBaseVariable(EMULATED_CARRIER)}=${carrierBase}   (and start it again)`,
    `and give the line of --from this account: \`npx parley line add ${enterprise} --carrier ${EMULATED_CARRIER}\``,
    `  --auth-id ${authId}, and the token of --carrier-token (the emulated account's, if you gave none)`,
    'A deployment on another machine needs --carrier-listen <address of this machine>:<port>.',
  ].join('\n');
}

/** Callbacks are sent when the call is over: a deployment whose PUBLIC_URL leads elsewhere never hears of its calls. */
async function checkCallbacks({ truth }: GuestCall, { deployment }: DeploymentCheck): Promise<void> {
  const untilMs = performance.now() + CALLBACK_LIMIT_MS;
  for (;;) {
    const callback = truth.callbacks.find(({ kind }) => kind === 'hangup');
    if (callback?.httpStatus != null && callback.httpStatus < 300) return;
    const problem = callback?.error ?? callback?.httpStatus ?? null;
    if (performance.now() > untilMs || typeof problem === 'number') {
      const said = problem === null ? 'was not answered' : `was answered with ${problem}`;
      const hint =
        problem === 401 || problem === 403
          ? 'it does not know the signature: give --carrier-token the token that the line has there'
          : `its PUBLIC_URL must be an address that this machine reaches (${deployment.url}?)`;
      throw new TargetFault(`the deployment's callback for the end of a call ${said}; ${hint}`);
    }
    await wait(POLL_MS);
  }
}

function busyCall(): PlannedCall {
  return {
    index: -1,
    atMs: 0,
    caller: 'check',
    by: 'phone',
    codec: 'mulaw',
    ringMs: 0,
    outcome: 'busy',
    lengthMs: 1,
    talk: { kind: 'silent' },
    network: { delayMs: 0, jitterMs: 0, lossShare: 0 },
    resumesAtMs: null,
    seed: 1,
  };
}
