/**
 * What one call of an agent asks of voice and recogniser, read from its script: each step is said once, the caller
 * answers where one is expected, and what holds no placeholder was said in a call before. A rough estimate; the running
 * service measures (`parley_media_carries_calls`).
 */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { ScriptedLine } from '../../media/contract/clip.ts';

export interface EngineSpeed {
  voiceMsPerSecond: number;
  recogniserMsPerSecond: number;
}

export interface MachineShape {
  cores: number;
  mediaProcesses: number;
  pipelineThreads: number;
  ttsThreads: number;
  sttThreads: number;
  mediaCapacityCalls: number;
}

export interface Carried {
  calls: number;
  /** What is full first. */
  scarce: string;
}

const CHARS_PER_SECOND = 14;
const ANSWER_SECONDS = 1.5;
/** What is heard before and after an answer goes to the recogniser too. */
const HEARD_SECONDS = 2;
/** Around an answer: the caller thinks, the agent waits for the end. */
const PAUSES_SECONDS = 2;
/**
 * Of a core, a call: sockets with codec and playout, pipeline with voice-activity gate, recorder (frame-path.md,
 * recording-format.md).
 */
const SOCKETS_SHARE = 0.001;
const PIPELINE_SHARE = 0.002;
const RECORDER_SHARE = 0.0005;
/** The part of a thread, and of all cores, that may be used: the rest is for what comes in the same moment. */
const MOST_OF_A_THREAD = 0.7;
const MOST_OF_ALL_CORES = 0.8;
const SENTENCES = /[^.!?]+[.!?]*/g;

export function carriedCalls(agent: ScriptedAgent, speed: EngineSpeed, machine: MachineShape): Carried {
  const lines = [agent.greeting, ...agent.steps.flatMap(({ say, tool }) => [firstOf(say), tool?.saying ?? ''])];
  const answers = agent.steps.filter(({ replies = [] }) => replies.length > 0).length;
  const spokenSeconds = secondsOf(lines.map((line) => (typeof line === 'string' ? line : line.text)).join(''));
  // A clip is sound already.
  const madeSeconds = secondsOf(
    lines.flatMap((line) => (typeof line === 'string' ? piecesWithValues(line) : [])).join(''),
  );
  const callSeconds = Math.max(1, spokenSeconds + answers * (ANSWER_SECONDS + PAUSES_SECONDS));
  const voiceShare = (madeSeconds * speed.voiceMsPerSecond) / 1000 / callSeconds;
  const recogniserShare = (answers * HEARD_SECONDS * speed.recogniserMsPerSecond) / 1000 / callSeconds;
  const { cores, mediaProcesses, pipelineThreads, ttsThreads, sttThreads, mediaCapacityCalls } = machine;
  const coreShare = voiceShare + recogniserShare + SOCKETS_SHARE + PIPELINE_SHARE + RECORDER_SHARE;
  // Without any, no scripted call can begin, whatever little it asks of them.
  const threads = (count: number, share: number): number =>
    count === 0 ? 0 : (MOST_OF_A_THREAD * count * mediaProcesses) / share;
  const limits: [string, number][] = [
    ['the voice (PARLEY_SPEECH_THREADS)', threads(ttsThreads, voiceShare)],
    ['the recogniser (PARLEY_LISTEN_THREADS)', threads(sttThreads, recogniserShare)],
    ['the pipeline (PARLEY_PIPELINE_THREADS)', threads(pipelineThreads, PIPELINE_SHARE)],
    ['the processor', (MOST_OF_ALL_CORES * cores) / coreShare],
    ['the limit that was set (PARLEY_MEDIA_CAPACITY)', mediaCapacityCalls * mediaProcesses],
  ];
  const [scarce, calls] = limits.reduce((least, one) => (one[1] < least[1] ? one : least));
  return { calls: Math.floor(calls), scarce };
}

function firstOf(say: ScriptedLine | ScriptedLine[] | undefined): ScriptedLine {
  return (Array.isArray(say) ? say[0] : say) ?? '';
}

function secondsOf(text: string): number {
  return text.length / CHARS_PER_SECOND;
}

/** A value makes its sentence new. */
function piecesWithValues(line: string): string[] {
  return (line.match(SENTENCES) ?? []).filter((sentence) => sentence.includes('{{'));
}
