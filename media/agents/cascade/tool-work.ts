/**
 * Carries out the uses of tools that a model asks for: the workspace's own become uses of the call's, the built-in ones
 * happen here. Every use gets its one result into the history. Owned by the agent, which goes on when all are there.
 */
import type { AgentSink } from '../../contract/agent.ts';
import { type CascadeAgent, DO_NOT_CALL_STEP } from '../../contract/agent-definition.ts';
import type { ModelToolUse } from '../../contract/model.ts';
import { toolValues } from '../../contract/tool-values.ts';
import type { ToolDefinition, ToolResult } from '../../contract/tools.ts';
import type { AgentSpeech } from './agent-speech.ts';
import { digitsOf, isBuiltIn } from './built-in-tools.ts';
import type { Farewell } from './farewell.ts';
import type { History } from './history.ts';
import { keyTones } from './key-tones.ts';
import type { Reply } from './reply.ts';
import { errorText, type OpenUse, resultText, ToolRound } from './tool-round.ts';

export interface ToolWorkDeps {
  definition: CascadeAgent;
  legRateHz: number;
  sink: AgentSink;
  history: History;
  farewell: Farewell;
  speech: AgentSpeech;
  /** Said where the model says none. */
  farewellLine: string;
  /** All that there are, built-in ones too. */
  names: readonly string[];
}

const LONGEST_DISPOSITION = 120;
const LONGEST_FAREWELL = 500;

export class ToolWork {
  readonly round = new ToolRound();
  /** What tools have found out of the caller, for others to read. */
  variables: Readonly<Record<string, string>> = {};
  readonly #deps: ToolWorkDeps;

  constructor(deps: ToolWorkDeps) {
    this.#deps = deps;
  }

  /** The one that has been at work longest. */
  get atWork(): ToolDefinition | undefined {
    const name = this.round.open[0]?.name;
    return name === undefined ? undefined : this.#definitionOf(name);
  }

  /** Of one answer. */
  use(reply: Reply, uses: readonly ModelToolUse[], atMs: number): void {
    const { history, names, sink } = this.#deps;
    this.round.rounds++;
    const isAlone = uses.every(({ name }) => isBuiltIn(name) || !names.includes(name));
    for (const [index, use] of uses.entries()) {
      const judged = this.round.judge(use, index, names);
      if ('result' in judged) history.result(use.useId, judged.result);
      else if (isBuiltIn(use.name)) {
        history.result(use.useId, this.#useBuiltIn(use.name, judged.begin.args, reply, isAlone, atMs));
      } else this.begin(judged.begin, atMs);
    }
    sink.act({ type: 'keep' });
  }

  begin(use: OpenUse, atMs: number): void {
    this.round.begin(use, atMs);
    this.#deps.sink.act({ type: 'tool', ref: use.useId, name: use.name, arguments: use.args });
  }

  /** False: nobody waited for it. */
  done(ref: string, result: ToolResult): boolean {
    if (!this.round.done(ref)) return false;
    this.#deps.history.result(ref, resultText(result));
    const definition = this.#definitionOf(result.name);
    if (definition !== undefined) this.#keepVariables(definition, result);
    this.#deps.sink.act({ type: 'keep' });
    return true;
  }

  /** Gives up what will never have a result. True: there was such a use. */
  tick(atMs: number): boolean {
    const overdue = this.round.overdue(atMs);
    for (const { useId } of overdue) {
      this.round.done(useId);
      this.#deps.history.result(useId, errorText('timeout', 'There was no answer.'));
    }
    return overdue.length > 0;
  }

  #useBuiltIn(name: string, args: Record<string, unknown>, reply: Reply, isAlone: boolean, atMs: number): string {
    switch (name) {
      case 'end_call':
        if (!isAlone) return errorText('not_now', 'Other tools are at work. End the call when their results are here.');
        this.#endCall(args, reply, atMs);
        return '{"status":"the call ends when your goodbye was heard"}';
      case 'send_digits':
        return this.#sendDigits(args);
      default:
        this.variables = { ...this.variables, [DO_NOT_CALL_STEP]: 'true' };
        this.#deps.sink.act({ type: 'step', stepId: DO_NOT_CALL_STEP });
        return '{"status":"this number is not called again"}';
    }
  }

  #endCall(args: Record<string, unknown>, reply: Reply, atMs: number): void {
    const { farewell, speech, farewellLine } = this.#deps;
    const isOptOut = this.variables[DO_NOT_CALL_STEP] === 'true';
    const disposition = textOf(args['disposition'], LONGEST_DISPOSITION);
    farewell.begin({
      reason: isOptOut ? 'opt_out_requested' : 'agent_hangup',
      disposition: disposition ?? (isOptOut ? DO_NOT_CALL_STEP : null),
      error: null,
      isOptional: true,
    });
    if (!reply.hasWords) speech.line(textOf(args['farewell'], LONGEST_FAREWELL) ?? farewellLine);
    else if (speech.mouth.sayings.length === 0) farewell.said(atMs);
  }

  #sendDigits(args: Record<string, unknown>): string {
    const { speech, sink, legRateHz } = this.#deps;
    const digits = digitsOf(args['digits']);
    if (digits === null) return errorText('bad_arguments', 'The digits must be 1 to 32 of 0-9, * and #.');
    // Behind what was said before they are pressed.
    speech.open();
    sink.act({ type: 'say', speech: { audio: keyTones(digits, legRateHz) }, stepId: null, interruptible: false });
    return '{"status":"pressed"}';
  }

  #definitionOf(name: string): ToolDefinition | undefined {
    return this.#deps.definition.tools?.find((tool) => tool.name === name);
  }

  #keepVariables(definition: ToolDefinition, result: ToolResult): void {
    const values = toolValues(definition, result);
    for (const name of Object.keys(definition.responseVariables ?? {})) {
      const { [name]: _, ...others } = this.variables;
      const value = values[name] ?? null;
      this.variables = value === null ? others : { ...others, [name]: value };
    }
  }
}

function textOf(value: unknown, longest: number): string | null {
  const text = typeof value === 'string' ? value.slice(0, longest).trim() : '';
  return text === '' ? null : text;
}
