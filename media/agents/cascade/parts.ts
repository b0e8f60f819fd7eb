/**
 * What the pieces of one agent share: its definition in the forms that they use, what it remembers, says and waits for,
 * and the time of the event that is being handled. Made by `cascade-agent.ts`, for `answering.ts` and `endings.ts` too.
 */
import type { AgentContext } from '../../contract/agent.ts';
import type { CascadeAgent } from '../../contract/agent-definition.ts';
import type { ModelTool } from '../../contract/model.ts';
import { QuietTime } from '../words/quiet-time.ts';
import { AgentSpeech } from './agent-speech.ts';
import { modelToolsOf } from './built-in-tools.ts';
import { Duty } from './duty.ts';
import { Farewell } from './farewell.ts';
import { History } from './history.ts';
import { type FixedLines, linesIn } from './lines.ts';
import { systemText } from './prompt.ts';
import { Spending } from './spending.ts';
import { ToolWork } from './tool-work.ts';

const IDLE = { promptAfterMs: 8_000, endAfterMs: 30_000 };

export class Parts {
  readonly context: AgentContext<CascadeAgent>;
  readonly definition: CascadeAgent;
  readonly sink: AgentContext<CascadeAgent>['sink'];
  readonly lines: FixedLines;
  readonly system: string;
  readonly modelTools: readonly ModelTool[];
  readonly history = new History();
  readonly duty = new Duty();
  readonly farewell = new Farewell();
  readonly quiet: QuietTime;
  readonly spending: Spending;
  readonly speech: AgentSpeech;
  readonly tools: ToolWork;
  /** Of the event that is being handled. */
  atMs = 0;
  isOver = false;

  constructor(context: AgentContext<CascadeAgent>) {
    const { definition, placeholders, sink, maxDurationMs, legRateHz } = context;
    this.context = context;
    this.definition = definition;
    this.sink = sink;
    this.lines = linesIn(definition);
    this.system = systemText(definition, placeholders);
    this.modelTools = modelToolsOf(definition);
    this.spending = new Spending(definition);
    this.speech = new AgentSpeech(sink, this.history, definition.language);
    this.tools = new ToolWork({
      definition,
      legRateHz,
      sink,
      history: this.history,
      farewell: this.farewell,
      speech: this.speech,
      farewellLine: this.lines.farewell,
      names: this.modelTools.map(({ name }) => name),
    });
    this.quiet = new QuietTime({ ...IDLE, ...definition.idle, say: [...this.lines.idle] }, maxDurationMs);
  }
}
