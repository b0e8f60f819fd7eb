/**
 * The meaning of a script whose shape is right: targets, ways through the steps, phrases that the recogniser can hear,
 * placeholders, times. Called by `check-agent.ts`. Each rule adds its faults and goes on, so
 * that all are listed at once.
 */

import type { ScriptedAgent, ScriptedReply, ScriptedStep } from '../../media/contract/agent-definition.ts';
import { ENDED_REASONS, isEndedReason } from '../../media/contract/call-outcome.ts';
import type { ScriptedLine } from '../../media/contract/clip.ts';
import { isLocalVoice, LOCAL_VOICES } from '../../media/contract/local-voices.ts';
import { type AgentFault, type PathPart, pathText, type Report } from '../errors/agent-faults.ts';
import type { Lexicon } from './lexicon.ts';
import { checkPhrase, phraseKey } from './phrase-check.ts';
import { checkSpoken } from './placeholder-check.ts';
import { checkWays, waitsForAnswer } from './script-ways.ts';
import { checkTools } from './tool-check.ts';

/** `isWhole` false: parts of the steps or tools are stand-ins, so what leads where is not judged. */
export function checkScript(agent: ScriptedAgent, lexicon: Lexicon, isWhole = true): AgentFault[] {
  const faults: AgentFault[] = [];
  const report: Report = (at, problem) => faults.push({ path: pathText(at), problem });

  if (!isLocalVoice(agent.voice)) {
    report(['voice'], `'${agent.voice}' is no known voice; use one of ${LOCAL_VOICES.join(', ')}`);
  }
  if (agent.idle.endAfterMs <= agent.idle.promptAfterMs) {
    report(['idle', 'endAfterMs'], `must be more than idle.promptAfterMs (${agent.idle.promptAfterMs})`);
  }
  checkSpoken(agent.script, ['script'], report);
  checkLine(agent.greeting, ['greeting'], report);
  agent.fallback.say.forEach((line, index) => {
    checkLine(line, ['fallback', 'say', index], report);
  });
  agent.idle.say.forEach((line, index) => {
    checkLine(line, ['idle', 'say', index], report);
  });
  agent.steps.forEach((step, index) => {
    checkStep(step, ['steps', index], lexicon, report);
  });
  if (isWhole) {
    checkTools(agent, report);
    checkWays(agent, report);
  }
  return faults;
}

function checkStep(step: ScriptedStep, at: readonly PathPart[], lexicon: Lexicon, report: Report): void {
  const lines = step.say === undefined ? [] : [step.say].flat();
  lines.forEach((line, index) => {
    checkLine(line, Array.isArray(step.say) ? [...at, 'say', index] : [...at, 'say'], report);
  });
  for (const [name, value] of Object.entries(step.tool?.arguments ?? {})) {
    checkSpoken(value, [...at, 'tool', 'arguments', name], report);
  }
  if (step.tool?.saying !== undefined) checkSpoken(step.tool.saying, [...at, 'tool', 'saying'], report);
  if (step.end !== undefined) checkEnd(step, at, report);
  checkWhatFollows(step, at, report);
  checkReplies(step.replies ?? [], at, lexicon, report);
}

/** Whether there is such a clip, only the database knows (`src/clips/agent-clips.ts`). */
function checkLine(line: ScriptedLine, at: readonly PathPart[], report: Report): void {
  if (typeof line === 'string') checkSpoken(line, at, report);
  else if (line.text?.includes('{{')) {
    report([...at, 'text'], 'holds a placeholder, but a clip always sounds the same; write what it says');
  }
}

function checkEnd(step: ScriptedStep, at: readonly PathPart[], report: Report): void {
  const reason = step.end?.reason ?? '';
  if (!isEndedReason(reason) || ENDED_REASONS[reason].status !== 'completed') {
    report(
      [...at, 'end', 'reason'],
      `'${reason}' is no reason to end a call that was held; the usual one is 'agent_hangup'`,
    );
  }
}

/** A step has one way on: it ends, uses a tool, leads on, or waits for an answer. */
function checkWhatFollows(step: ScriptedStep, at: readonly PathPart[], report: Report): void {
  const hasReplies = (step.replies?.length ?? 0) > 0;
  const others = [hasReplies && 'replies', step.goto !== undefined && 'goto', step.tool !== undefined && 'tool'].filter(
    (name) => name !== false,
  );
  if (step.end !== undefined) {
    for (const name of others)
      report([...at, name], `is never used, because this step ends the call; take it or 'end' out`);
    return;
  }
  if (step.tool !== undefined) {
    if (hasReplies)
      report([...at, 'replies'], `are never heard, because this step uses a tool; move them to 'tool.goto'`);
    if (step.goto !== undefined)
      report([...at, 'goto'], `is never used, because this step uses a tool; use 'tool.goto'`);
    return;
  }
  if (waitsForAnswer(step)) {
    if (step.goto !== undefined) {
      report(
        [...at, 'goto'],
        `is never used, because this step waits for an answer; say expect: "none", or take it out`,
      );
    }
    if (!hasReplies) {
      report(
        at,
        `waits for an answer but has no 'replies'; add some, or say where to go on with 'goto', or 'end' the call`,
      );
    }
    return;
  }
  if (hasReplies) report([...at, 'replies'], `are never heard, because this step expects "none"`);
  if (step.goto === undefined) report(at, `expects "none" and leads nowhere; add 'goto' or 'end'`);
}

function checkReplies(
  replies: readonly ScriptedReply[],
  at: readonly PathPart[],
  lexicon: Lexicon,
  report: Report,
): void {
  const intents = new Map<string, number>();
  const phrases = new Map<string, string>();
  replies.forEach((reply, index) => {
    const here = [...at, 'replies', index];
    const before = intents.get(reply.intent);
    if (before !== undefined) {
      report(
        [...here, 'intent'],
        `'${reply.intent}' is already the intent of replies[${before}]; put the phrases there`,
      );
    }
    intents.set(reply.intent, before ?? index);
    reply.phrases.forEach((phrase, number) => {
      checkPhrase(phrase, [...here, 'phrases', number], lexicon, report);
      const key = phraseKey(phrase);
      const taken = phrases.get(key);
      if (taken !== undefined)
        report([...here, 'phrases', number], `'${phrase}' is already ${taken}; only that one is heard`);
      else phrases.set(key, pathText(['replies', index, 'phrases', number]));
    });
    checkSet(reply, here, report);
  });
}

function checkSet(reply: ScriptedReply, at: readonly PathPart[], report: Report): void {
  for (const [name, value] of Object.entries(reply.set ?? {})) {
    if (!value.startsWith('$') || value === '$heard') continue;
    const needed = value === '$digits' ? '<digits>' : value === '$name' ? '<name>' : null;
    if (needed === null) {
      report(
        [...at, 'set', name],
        `'${value}' is unknown; use $heard, $digits, $name, or a text that does not begin with $`,
      );
    } else if (!reply.phrases.some((phrase) => phrase.includes(needed))) {
      report([...at, 'set', name], `'${value}' stays empty, because no phrase of this reply holds ${needed}`);
    }
  }
}
