/** `parley doctor`, whole: every check, all at once, in one order. Changes nothing; owns and closes what it opens. */
import { type AddressGuard, createAddressGuard } from '../../media/net/address-guard.ts';
import { openCarriers } from '../carriers/carriers.ts';
import { loadOperatorSettings } from '../config/operator-settings.ts';
import { readRecordingSettings } from '../config/recording-settings.ts';
import { createSealer } from '../sealing/sealer.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { checkCapacity, measureEngines, readAgents } from './capacity-checks.ts';
import { checkCarriers } from './carrier-checks.ts';
import { CHECK_LIMIT_MS, type CheckResult, fail, ok, processLimitMs, runCheck } from './check.ts';
import { checkConnections } from './connection-checks.ts';
import { checkDatabase } from './database-checks.ts';
import { checkDays } from './day-checks.ts';
import { type DoctorSettings, loadDoctorSettings } from './doctor-settings.ts';
import { checkDisk, checkMediaParts, checkNode, checkOpenFiles } from './machine-checks.ts';
import { checkKeyOfDatabase, checkMasterKey } from './master-key-checks.ts';
import { checkPorts, checkPublicUrl, checkService, runningInstance } from './network-checks.ts';
import { checkClientAddresses } from './proxy-check.ts';
import { checkRecordingStore, checkWaitingRecordings } from './recording-checks.ts';

export interface DoctorDeps {
  environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the built `media/self-check.js`; throws when it is not built. */
  selfCheckEntry(): string;
  /** The same of `media/engine-speed.js`. Absent: how many calls the machine carries is not measured. */
  engineSpeedEntry?(): string;
  /** Of each check; default 15 s. */
  limitMs?: number;
}

export async function examine(deps: DoctorDeps): Promise<CheckResult[]> {
  const { environment, limitMs = CHECK_LIMIT_MS } = deps;
  const run: typeof runCheck = (name, check) => runCheck(name, check, limitMs);
  const machine = [
    run('Node', async () => checkNode()),
    run('socket server', async () => checkMediaParts(deps.selfCheckEntry(), processLimitMs(limitMs))),
    run('open files', async () => checkOpenFiles()),
  ];
  let settings: DoctorSettings;
  try {
    settings = loadDoctorSettings(environment);
  } catch (error) {
    const [first = '', ...faults] = (error as Error).message.split('\n');
    const detail = faults.length === 0 ? first : faults.map((fault) => fault.trim()).join('; ');
    const result = fail('settings', detail, 'Correct the environment; nothing else can be checked before.');
    return [result, ...(await Promise.all(machine)).flat()];
  }
  const instance = await runningInstance(settings);
  const groups = [
    run('service', () => checkService(settings, instance)),
    run('port', () => checkPorts(settings, instance)),
    run('public URL', async () => [...(await checkPublicUrl(settings, instance)), ...checkClientAddresses(settings)]),
    run('database', () => checkStored(settings, instance !== null, deps)),
    run('master key', async () => checkMasterKey(settings, environment)),
    run('disk', () => checkDisk(settings.dataDir)),
    run('recording store', () => checkRecordingStore(readRecordingSettings(environment), settings)),
    ...machine,
  ];
  return [ok('settings', 'every setting can be read'), ...(await Promise.all(groups)).flat()];
}

async function checkStored(settings: DoctorSettings, isRunning: boolean, deps: DoctorDeps): Promise<CheckResult[]> {
  if (settings.databaseUrl === null) return [ok('database', 'embedded; it starts with the service')];
  const database = openDatabase({ connectionString: settings.databaseUrl, maxConnections: 2, onIdleError: () => {} });
  const sealer = settings.masterKeys.length === 0 ? null : createSealer(settings.masterKeys);
  const registry = openCarriers(settings.carrierApiBase);
  try {
    const results = await checkDatabase(database, isRunning);
    const usable = results.every(({ name, level }) => level === 'ok' || name.startsWith('clock'));
    if (!usable) return results;
    return [
      ...results,
      ...(await checkKeyOfDatabase(database, settings)),
      ...(await checkCarriers({ database, sealer, registry })),
      ...(await runCheck(
        'connections',
        async () => checkConnections(database, sealer, providerGuard(deps)),
        deps.limitMs,
      )),
      ...(await checkWaitingRecordings(database)),
      ...(await runCheck('days', () => checkDays(database), deps.limitMs)),
      ...(deps.engineSpeedEntry === undefined
        ? []
        : await runCheck('calls at once', () => checkCarried(database, settings, deps), deps.limitMs)),
    ];
  } finally {
    await database.close();
  }
}

/** As this command's environment would have it: the running service may have another. */
function providerGuard({ environment }: DoctorDeps): AddressGuard {
  const { webhookAllowCidrs, modelAllowCidrs } = loadOperatorSettings(environment);
  return createAddressGuard([...webhookAllowCidrs, ...modelAllowCidrs], 'MODEL_ALLOW_CIDRS');
}

async function checkCarried(
  database: Database,
  { machine }: DoctorSettings,
  { engineSpeedEntry, limitMs = CHECK_LIMIT_MS }: DoctorDeps,
): Promise<CheckResult[]> {
  const agents = await readAgents(database);
  return checkCapacity(agents, await measureEngines(engineSpeedEntry!(), processLimitMs(limitMs)), machine);
}
