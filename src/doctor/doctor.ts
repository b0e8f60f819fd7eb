/** `parley doctor`, whole: every check, all at once, in one order. Changes nothing; owns and closes what it opens. */
import { createPlivoCarrier } from '../carriers/plivo/plivo-carrier.ts';
import { createCarrierRegistry } from '../carriers/registry.ts';
import { readRecordingSettings } from '../config/recording-settings.ts';
import { openDatabase } from '../store/database.ts';
import { createSealer } from '../store/secrets.ts';
import { checkCarriers } from './carrier-checks.ts';
import { type CheckResult, fail, ok, runCheck } from './check.ts';
import { checkDatabase } from './database-checks.ts';
import { type DoctorSettings, loadDoctorSettings } from './doctor-settings.ts';
import { checkDisk, checkMasterKey, checkMediaParts, checkNode, checkOpenFiles } from './machine-checks.ts';
import { checkPorts, checkPublicUrl, checkService, runningInstance } from './network-checks.ts';
import { checkRecordingStore, checkWaitingRecordings } from './recording-checks.ts';

export interface DoctorDeps {
  environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the built `media/self-check.js`; throws when it is not built. */
  selfCheckEntry(): string;
}

export async function examine(deps: DoctorDeps): Promise<CheckResult[]> {
  const { environment } = deps;
  const machine = [
    runCheck('Node', async () => checkNode()),
    runCheck('socket server', async () => checkMediaParts(deps.selfCheckEntry())),
    runCheck('open files', async () => checkOpenFiles()),
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
    runCheck('service', async () => checkService(settings, instance)),
    runCheck('port', () => checkPorts(settings, instance)),
    runCheck('public URL', () => checkPublicUrl(settings, instance)),
    runCheck('database', () => checkStored(settings, instance !== null)),
    runCheck('master key', async () => checkMasterKey(settings, environment)),
    runCheck('disk', () => checkDisk(settings.dataDir)),
    runCheck('recording store', () => checkRecordingStore(readRecordingSettings(environment), settings.dataDir)),
    ...machine,
  ];
  return [ok('settings', 'every setting can be read'), ...(await Promise.all(groups)).flat()];
}

async function checkStored(settings: DoctorSettings, isRunning: boolean): Promise<CheckResult[]> {
  if (settings.databaseUrl === null) return [ok('database', 'embedded; it starts with the service')];
  const database = openDatabase({ connectionString: settings.databaseUrl, maxConnections: 2, onIdleError: () => {} });
  const sealer = settings.masterKeyHex === null ? null : createSealer(settings.masterKeyHex);
  const registry = createCarrierRegistry({
    factories: { plivo: createPlivoCarrier },
    apiBases: settings.carrierApiBase,
  });
  try {
    const results = await checkDatabase(database, isRunning);
    const usable = results.every(({ name, level }) => level === 'ok' || name.startsWith('clock'));
    if (!usable) return results;
    return [
      ...results,
      ...(await checkCarriers({ database, sealer, registry })),
      ...(await checkWaitingRecordings(database)),
    ];
  } finally {
    await database.close();
  }
}
