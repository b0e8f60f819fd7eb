/** Shows every row of the specification in its order. Used by `main.ts` and, the same code, by the test. */

import type { Exchange } from './exchanges.ts';
import type { Row, Section } from './row.ts';
import { errors, limits, outboundCall } from './rows/calls.ts';
import { callLead, createLead } from './rows/leads.ts';
import { authentication, events, versioning } from './rows/rules.ts';
import { resources, states, whatTheServiceDoes } from './rows/service.ts';
import { application } from './rows/settings.ts';
import { embedScript, embedSession, serviceVoice } from './rows/website.ts';
import { type Stage, setStage } from './stage.ts';

/** As the specification has them. */
const SECTIONS: readonly Section[] = [
  whatTheServiceDoes,
  resources,
  states,
  outboundCall,
  createLead,
  callLead,
  embedSession,
  embedScript,
  serviceVoice,
  authentication,
  events,
  errors,
  limits,
  versioning,
  application,
];

export interface Outcome {
  section: string;
  row: string;
  look: string;
  exchanges: readonly Exchange[];
  /** Null: it holds. */
  fault: string | null;
}

/** `told` gets each row as soon as it was shown. `settings`: more of the service's. */
export async function runTour(
  log: (line: string) => void,
  told: (outcome: Outcome) => void,
  settings: Record<string, string> = {},
): Promise<Outcome[]> {
  const stage = await setStage(log, settings);
  const outcomes: Outcome[] = [];
  try {
    for (const { title, rows } of SECTIONS) {
      for (const row of rows) {
        const outcome = await showRow(stage, title, row);
        outcomes.push(outcome);
        told(outcome);
      }
    }
  } finally {
    await stage.close();
  }
  return outcomes;
}

async function showRow(stage: Stage, section: string, { name, look, show }: Row): Promise<Outcome> {
  let fault: string | null = null;
  try {
    await show(stage);
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  return { section, row: name, look, exchanges: stage.takeExchanges(), fault };
}
