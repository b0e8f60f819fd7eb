/**
 * What is done for calls beside carrying them: their analysis, their tools, web sessions, imports of leads, exports.
 * Who must hear of a call's end does from `call-course.ts`. Made by `control.ts`.
 */
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { createAnalysisRunner } from '../analysis/analysis-runner.ts';
import { exportedCalls } from '../api/exports/exported-calls.ts';
import { builtEntry } from '../config/built-entry.ts';
import { createEmbed } from '../embed/embed.ts';
import { createExportRunner } from '../exports/export-runner.ts';
import { createImportReading } from '../leads/import-reading.ts';
import { createImportRunner } from '../leads/import-runner.ts';
import { createEmbedLimits } from '../limits/embed-limits.ts';
import type { UnwrittenTalk } from '../media-link/unwritten-talk.ts';
import { createToolExecutor, type ToolsElsewhere } from '../tools/tool-executor.ts';
import type { Ground } from './ground.ts';
import type { MediaPlaces } from './media-places.ts';

export type CallWork = ReturnType<typeof createCallWork>;

export function createCallWork(
  { config, clock, masterKeys, http, limitStores, metrics, shared, telling }: Ground,
  { pool, room, withStream }: MediaPlaces,
  asked: Pick<UnwrittenTalk, 'allWritten'> & { isDraining(): boolean; toolsElsewhere: ToolsElsewhere },
) {
  const modelCidrs = [...config.webhookAllowCidrs, ...config.modelAllowCidrs];
  const modelGuard = createAddressGuard(modelCidrs, 'MODEL_ALLOW_CIDRS');
  const modelHttp = createGuardedClient({ guard: modelGuard, clock });
  const analysis = createAnalysisRunner({
    ...shared,
    ...telling,
    http: modelHttp,
    random: Math.random,
    observed: { analysed: metrics.callAnalysed, asked: metrics.modelAsked },
  });
  const tools = createToolExecutor({
    ...shared,
    http,
    answer: pool.toolAnswered,
    observed: metrics.toolUsed,
    elsewhere: asked.toolsElsewhere,
  });
  const embed = createEmbed({
    ...shared,
    withStream,
    bus: telling.bus,
    masterKeys,
    limits: createEmbedLimits({ ...limitStores, database: shared.database, clock }),
    superseded: pool.superseded,
    prepare: pool.prepareWeb,
    allWritten: asked.allWritten,
    isDraining: asked.isDraining,
    hasRoom: () => pool.hasRoom() && room.has('web'),
    room,
  });
  const importReading = createImportReading({ clock, entry: () => builtEntry('src/leads/import-thread.js') });
  const imports = createImportRunner({ ...shared, reading: importReading });
  const exports = createExportRunner({ ...shared, shown: (...of) => exportedCalls(shared, ...of) });
  return { modelGuard, modelHttp, analysis, tools, embed, importReading, imports, exports };
}
