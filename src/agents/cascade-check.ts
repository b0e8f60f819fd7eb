/**
 * The meaning of an agent that converses and whose shape is right: placeholders, engines and their connections, tools,
 * times. Called by `check-agent.ts`; adds each fault and goes on. Whether the connections are there, and what models
 * cost, only the database knows.
 */
import { BUILT_IN_TOOLS, type CascadeAgent } from '../../media/contract/agent-definition.ts';
import { type AgentFault, pathText, type Report } from '../errors/agent-faults.ts';
import { checkSpoken } from './placeholder-check.ts';
import { checkToolShapes } from './tool-check.ts';

/** Of `media/engines/registry.ts`, which runs on this machine and needs no connection. */
const LOCAL_ENGINE = 'local';
/** The local voice and recogniser know no other. */
const LOCAL_LANGUAGE = /^en\b/;

export function checkCascade(agent: CascadeAgent): AgentFault[] {
  const faults: AgentFault[] = [];
  const report: Report = (at, problem) => faults.push({ path: pathText(at), problem });
  checkTexts(agent, report);
  checkEngines(agent, report);
  checkTools(agent, report);
  checkTimes(agent, report);
  return faults;
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

function checkEngines(agent: CascadeAgent, report: Report): void {
  checkLocal(agent, agent.listen, ['listen'], report);
  agent.speak.forEach((voice, index) => {
    checkLocal(agent, voice, ['speak', index], report);
  });
  const seen = new Set<string>();
  agent.think.forEach(({ connection, model }, index) => {
    const key = `${connection}\n${model}`;
    if (seen.has(key))
      report(['think', index], `asks '${model}' of '${connection}' a second time; a backup is another one`);
    seen.add(key);
  });
}

function checkLocal(
  { language }: CascadeAgent,
  { engine, connection }: { engine: string; connection?: string },
  at: readonly (string | number)[],
  report: Report,
): void {
  if (engine === LOCAL_ENGINE) {
    if (connection !== undefined) report([...at, 'connection'], 'means nothing to the local engine; take it out');
    if (!LOCAL_LANGUAGE.test(language)) {
      report([...at, 'engine'], `is the local one, which knows English only, and the language is ${language}`);
    }
  } else if (connection === undefined) {
    report([...at, 'connection'], `is missing; '${engine}' is used by a connection: parley connection add`);
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
