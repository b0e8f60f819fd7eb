/**
 * The meaning of an agent that converses and whose shape is right: placeholders, engines, tools, times. Called by
 * `check-agent.ts`; adds each fault and goes on. Whether the connections are there, and what models cost, only the
 * database knows.
 */
import { BUILT_IN_TOOLS, type CascadeAgent } from '../../media/contract/agent-definition.ts';
import { type AgentFault, pathText, type Report } from '../errors/agent-faults.ts';
import { warnOfToolVariables } from './agent-warnings.ts';
import { checkEngines } from './engine-check.ts';
import { checkSpoken } from './placeholder-check.ts';
import { checkToolShapes } from './tool-check.ts';

export function checkCascade(agent: CascadeAgent): { faults: AgentFault[]; warnings: AgentFault[] } {
  const faults: AgentFault[] = [];
  const warnings: AgentFault[] = [];
  const report: Report = (at, problem) => faults.push({ path: pathText(at), problem });
  const warn: Report = (at, problem) => warnings.push({ path: pathText(at), problem });
  checkTexts(agent, report);
  warnOfToolVariables(agent, warn);
  checkEngines(agent, report, warn);
  checkTools(agent, report);
  checkTimes(agent, report);
  return { faults, warnings };
}

function checkTexts(agent: CascadeAgent, report: Report): void {
  checkSpoken(agent.script, ['script'], report);
  if (agent.firstMessage !== undefined) {
    checkSpoken(agent.firstMessage, ['firstMessage'], report);
    if (agent.speaksFirst === 'caller') {
      report(['speaksFirst'], 'is "caller", and there is a firstMessage; take one of them out');
    }
  }
  const lines: [readonly string[] | undefined, readonly string[]][] = [
    [agent.filler?.say, ['filler', 'say']],
    [agent.idle?.say, ['idle', 'say']],
    [agent.end?.farewell === undefined ? undefined : [agent.end.farewell], ['end', 'farewell']],
  ];
  for (const [texts = [], at] of lines) {
    texts.forEach((text, index) => {
      if (text.includes('{{')) report([...at, index], 'holds a placeholder; only script and firstMessage may');
    });
  }
}

function checkTools(agent: CascadeAgent, report: Report): void {
  checkToolShapes(agent.tools ?? [], report);
  agent.tools?.forEach(({ name, description, speakDuring = [] }, index) => {
    speakDuring.forEach((line, number) => {
      if (line.includes('{{')) {
        report(['tools', index, 'speakDuring', number], 'holds a placeholder; only script and firstMessage may');
      }
    });
    if ((BUILT_IN_TOOLS as readonly string[]).includes(name)) {
      report(['tools', index, 'name'], `'${name}' is the name of a built-in tool; choose another`);
    }
    if (description === undefined || description.trim() === '') {
      report(['tools', index, 'description'], 'is missing; the model chooses its tools by what they are for');
    }
  });
}

function checkTimes({ idle, patience }: CascadeAgent, report: Report): void {
  if (idle !== undefined && idle.endAfterMs <= idle.promptAfterMs) {
    report(['idle', 'endAfterMs'], `must be more than idle.promptAfterMs (${idle.promptAfterMs})`);
  }
  if (patience !== undefined && patience.maxMs < patience.minMs) {
    report(['patience', 'maxMs'], `must be at least patience.minMs (${patience.minMs})`);
  }
}
