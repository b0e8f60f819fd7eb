/**
 * The meaning of an agent's tools: addresses, headers, schemas, paths, and whether each step that uses one gives it
 * what it asks for. Called by `script-check.ts` and `cascade-check.ts`. Where an address leads is judged at each
 * request, and by `parley tool test`.
 */
import type { ScriptedAgent, ScriptedStep } from '../../media/contract/agent-definition.ts';
import { parseJsonPath } from '../../media/contract/json-path.ts';
import type { ToolDefinition } from '../../media/contract/tools.ts';
import { parseTargetUrl } from '../../media/net/target-url.ts';
import type { PathPart, Report } from '../errors/agent-faults.ts';
import { schemaFaults } from '../tools/argument-check.ts';
import { headerProblem } from '../tools/header-template.ts';
import { checkSpoken } from './placeholder-check.ts';

/** Fields that only an address makes sense of. */
const HTTP_FIELDS = ['url', 'method', 'headers', 'retries', 'argsAtRoot', 'maxResponseBytes'] as const;

export function checkTools(agent: ScriptedAgent, report: Report): void {
  const tools = checkToolShapes(agent.tools ?? [], report);
  agent.steps.forEach((step, index) => {
    if (step.tool !== undefined) checkUse(step.tool, tools, ['steps', index, 'tool'], report);
  });
}

/** Each for itself; by their names. */
export function checkToolShapes(definitions: readonly ToolDefinition[], report: Report): Map<string, ToolDefinition> {
  const tools = new Map<string, ToolDefinition>();
  definitions.forEach((tool, index) => {
    const at = ['tools', index];
    if (tools.has(tool.name)) report([...at, 'name'], `'${tool.name}' is the name of another tool already`);
    tools.set(tool.name, tool);
    if (tool.kind === 'client') checkClientTool(tool, at, report);
    else checkHttpTool(tool, at, report);
    for (const fault of schemaFaults(tool.parameters ?? { type: 'object' })) {
      report([...at, 'parameters', ...fault.at], fault.problem);
    }
    for (const [variable, path] of Object.entries(tool.responseVariables ?? {})) {
      if (parseJsonPath(path) !== null) continue;
      report([...at, 'responseVariables', variable], `'${path}' is no path; write one like $.order.lines[0].title`);
    }
    for (const name of ['speakDuring', 'speakOnError'] as const) {
      tool[name]?.forEach((line, number) => {
        checkSpoken(line, [...at, name, number], report);
      });
    }
  });
  return tools;
}

function checkClientTool(tool: ToolDefinition, at: readonly PathPart[], report: Report): void {
  for (const field of HTTP_FIELDS) {
    if (tool[field] !== undefined)
      report([...at, field], 'means nothing for a tool of a page (kind "client"); take it out');
  }
}

function checkHttpTool(tool: ToolDefinition, at: readonly PathPart[], report: Report): void {
  if (tool.url === undefined) {
    report([...at, 'url'], 'is missing; a tool of a page, which has none, is of kind "client"');
  } else {
    const target = parseTargetUrl(tool.url, null);
    if (!target.ok) report([...at, 'url'], target.problem);
    else if (tool.url.includes('{{')) report([...at, 'url'], 'takes no placeholders; hand values over as arguments');
  }
  for (const [name, value] of Object.entries(tool.headers ?? {})) {
    const problem = headerProblem(name, value);
    if (problem !== null) report([...at, 'headers', name], problem);
  }
}

function checkUse(
  use: NonNullable<ScriptedStep['tool']>,
  tools: ReadonlyMap<string, ToolDefinition>,
  at: readonly PathPart[],
  report: Report,
): void {
  const tool = tools.get(use.name);
  if (tool === undefined) {
    const known = [...tools.keys()].join(', ');
    report(
      [...at, 'name'],
      `there is no tool '${use.name}'; ${known === '' ? "add it to 'tools'" : `there are ${known}`}`,
    );
    return;
  }
  const { required, properties, additionalProperties } = (tool.parameters ?? {}) as {
    required?: unknown;
    properties?: Record<string, unknown>;
    additionalProperties?: unknown;
  };
  const given = Object.keys(use.arguments ?? {});
  const wanted = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  for (const name of wanted) {
    if (!given.includes(name)) report([...at, 'arguments'], `lack '${name}', which the tool requires`);
  }
  if (additionalProperties !== false) return;
  for (const name of given) {
    if (!Object.hasOwn(properties ?? {}, name)) report([...at, 'arguments', name], 'is no parameter of the tool');
  }
}
