/**
 * The agent's tools in one text call: answered as the scenario says, or for real at the address that the agent names.
 * Arguments are checked against the tool's `parameters` first, as in every call.
 */
import { systemClock } from '../../media/contract/clock.ts';
import { type ToolAnswer, type ToolDefinition, toolFailed } from '../../media/contract/tools.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { checkArguments } from '../../src/tools/argument-check.ts';
import { sendTool } from '../../src/tools/send-tool.ts';
import { fillTemplate } from '../emulators/providers/mind/scenario.ts';
import type { VirtualClock } from '../harness/virtual-clock.ts';
import { isPart } from './is-part.ts';
import type { Scenario, ToolAnswers } from './scenario-schema.ts';
import type { Subject } from './subject.ts';

const NO_CALL = '00000000-0000-7000-8000-000000000000';

export class ToolsOfTest {
  readonly #subject: Subject;
  readonly #answers: Readonly<Record<string, ToolAnswers>>;
  readonly #clock: VirtualClock;
  readonly #over = new AbortController();
  #http: ReturnType<typeof createGuardedClient> | null = null;
  #real = 0;

  constructor(subject: Subject, scenario: Pick<Scenario, 'tools'>, clock: VirtualClock) {
    this.#subject = subject;
    this.#answers = { ...subject.file.tools, ...scenario.tools };
    this.#clock = clock;
  }

  get waitsForOthers(): boolean {
    return this.#real > 0;
  }

  async use(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const { definition } = this.#subject;
    const tool = definition.kind === 'tone' ? undefined : definition.tools?.find((one) => one.name === name);
    const answers = this.#answers[name];
    if (tool === undefined || answers === undefined)
      return toolFailed('failed', `the test has no answer for '${name}'`);
    if (answers === 'real') return this.#ask(tool, args);
    const { answer, afterMs } = emulatedAnswer(tool, answers, args);
    await new Promise<void>((resolve) => this.#clock.after(afterMs, resolve));
    return answer;
  }

  close(): void {
    this.#over.abort();
    void this.#http?.close();
  }

  async #ask(definition: ToolDefinition, args: Record<string, unknown>): Promise<ToolAnswer> {
    this.#http ??= createGuardedClient({
      guard: createAddressGuard([...this.#subject.allowCidrs]),
      clock: systemClock,
    });
    this.#real++;
    try {
      return await sendTool(
        {
          definition,
          toolCallId: `tc_test_${crypto.randomUUID().replaceAll('-', '')}`,
          arguments: args,
          call: {
            callUuid: NO_CALL,
            agentId: NO_CALL,
            enterprise: 'test',
            to: '',
            direction: 'outbound',
            metadata: {},
          },
          secrets: new Map(),
          signingSecrets: [],
        },
        { http: this.#http, clock: systemClock, signal: this.#over.signal },
      );
    } finally {
      this.#real--;
    }
  }
}

type AnswerOfTest = Extract<ToolAnswers, readonly unknown[]>[number];

/** What a use of a tool is answered with, and when; the audio call's endpoint answers the same. */
export function emulatedAnswer(
  tool: Pick<ToolDefinition, 'name' | 'parameters'>,
  answers: Exclude<ToolAnswers, 'real'>,
  args: Record<string, unknown>,
): { answer: ToolAnswer; afterMs: number } {
  const checked = checkArguments(tool.parameters, args);
  if (!checked.ok) return { answer: toolFailed('bad_arguments', checked.problem), afterMs: 0 };
  let found: AnswerOfTest | undefined;
  try {
    found = [answers].flat().find(({ when }) => when === undefined || isPart(when, checked.value));
  } catch (error) {
    return { answer: toolFailed('failed', `"when" of '${tool.name}': ${(error as Error).message}`), afterMs: 0 };
  }
  if (found === undefined) {
    const message = `the test answers '${tool.name}' for other arguments only; end its list with an answer without "when"`;
    return { answer: toolFailed('failed', message), afterMs: 0 };
  }
  const { returns, fails, afterMs } = found;
  const answer =
    fails === undefined ? { ok: true as const, status: 200, result: filled(returns, checked.value) } : null;
  return { answer: answer ?? toolFailed(fails!, 'so the test wants it'), afterMs };
}

function filled(value: unknown, args: Record<string, unknown>): unknown {
  if (typeof value === 'string') return fillTemplate(value, { arguments: args });
  if (Array.isArray(value)) return value.map((one) => filled(one, args));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, args)]));
}
