/**
 * The analysis of a call in the transaction of its end, where it can be made there and then: all has been said, and no
 * model is to be asked. So such a call costs one change, and its receiver hears of both at once. Called by
 * `src/lifecycle/transition.ts`; what is not made here is owed (`owe-analysis.ts`).
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Turn } from '../../media/contract/conversation.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { Queryable } from '../store/database.ts';
import { readTogether } from '../store/joint-read.ts';
import { tellOfCall } from '../webhooks/outbox.ts';
import { analyseAlone } from './analyse.ts';
import { addAnalysis, analysisEventFields } from './analysis-jobs.ts';
import { type CallStory, storyFacts, storyOf } from './call-story.ts';
import { modelIsChosen } from './model-endpoint.ts';

/** False: it is not made here, and nothing is changed. Its terminal event is added already. */
export async function analyseAtEnd(
  { clock, log }: { clock: Clock; log: Logger },
  tx: Queryable,
  { change, turns }: { change: CallChange; turns(): Promise<readonly Turn[]> },
): Promise<boolean> {
  const { call } = change;
  if (call.mediaStoppedAt === null || call.transcriptStatus === 'deleted') return false;
  const [chosen, facts] = await readTogether(tx, modelIsChosen(call.workspaceId), storyFacts(call));
  if (chosen !== null) return false;
  const found = read(log, storyOf(call, await turns(), facts!.definition, facts!.disposition));
  if (found === null) return false;
  addAnalysis(change, { ...found, problem: null }, clock.epochMs());
  const extra = analysisEventFields(call.analysis);
  await tellOfCall(change, { event: 'analysis.completed', extra, turns }, clock);
  return true;
}

/** Null: it failed, and whoever is owed it says what becomes of that. */
function read(log: Logger, story: CallStory): ReturnType<typeof analyseAlone> | null {
  try {
    return analyseAlone(story);
  } catch (error) {
    log.error({ err: error }, 'an analysis failed at the end of its call; it is tried again');
    return null;
  }
}
