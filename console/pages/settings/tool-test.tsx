/** Trying one tool: its arguments, then what was sent, what came back, and what the agent could say of it. */
import { useState } from 'preact/hooks';
import type { ListedTool, ToolTrial } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { toolWords as words } from '../../texts/en/tools.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDraft } from '../../ui/draft.ts';
import { Area } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/page.tsx';
import { Json, LongText, Words } from '../../ui/text.tsx';
import { sampleOf } from './sample-arguments.ts';

export function ToolTest(props: { enterprise: string; tool: ListedTool; onClose(): void }) {
  const { enterprise, tool, onClose } = props;
  const { value: text, set: setText } = useDraft(
    `tool.${enterprise}.${tool.agentId}.${tool.name}`,
    JSON.stringify(sampleOf(tool.parameters), null, 2),
  );
  const [trial, setTrial] = useState<ToolTrial | null>(null);
  const [fault, setFault] = useState<string>();
  async function send(): Promise<void> {
    const given = parsed(text);
    setFault(given === null ? words.badJson : undefined);
    if (given === null) return;
    setTrial(null);
    const { agentId, name } = tool;
    const asked = { agentId, toolName: name, body: { arguments: given } };
    setTrial((await clientOf(enterprise).testTool(asked)).data);
  }
  return (
    <Dialog title={words.testTitle(tool.name)} isWide onClose={onClose}>
      <div class="stack">
        <p class="soft">{tool.description ?? words.testAbout}</p>
        <Form submit={send} action={words.send} onCancel={onClose}>
          {() => (
            <Area
              label={words.arguments}
              help={words.argumentsHelp}
              isMono
              rows={Math.min(12, text.split('\n').length + 1)}
              value={text}
              fault={fault}
              onInput={setText}
            />
          )}
        </Form>
        {trial === null ? null : <Outcome trial={trial} />}
      </div>
    </Dialog>
  );
}

function Outcome({ trial }: { trial: ToolTrial }) {
  const { answer, attempts, ms, variables, headers, url, body, isSigned } = trial;
  const named = Object.entries(variables);
  return (
    <div class="stack" role="status">
      <Notice kind={answer.ok ? 'good' : 'error'}>
        <strong>{answer.ok ? words.answered(answer.status, ms) : words.failed(answer.code ?? '', ms)}</strong>
        {answer.message === undefined ? null : <p>{answer.message}</p>}
        {attempts > 1 ? <p>{words.attempts(attempts)}</p> : null}
      </Notice>
      {answer.ok ? (
        <section class="stack tight">
          <h3>{words.result}</h3>
          <Json value={answer.result ?? null} />
        </section>
      ) : null}
      {named.length === 0 ? null : (
        <section class="stack tight">
          <h3>{words.variables}</h3>
          <Facts facts={named.map(([name, value]) => [`{{${name}}}`, <LongText key={name} text={value} />] as const)} />
        </section>
      )}
      <section class="stack tight">
        <h3>{words.request}</h3>
        {attempts === 0 ? (
          <p class="soft">{words.nothing}</p>
        ) : (
          <>
            <p>
              <code>POST</code> <Words>{url}</Words>
            </p>
            <Facts
              facts={Object.entries(headers).map(([name, value]) => [name, <Words key={name}>{value}</Words>] as const)}
            />
            <Json value={parsed(body) ?? body} />
            {isSigned ? null : <p class="soft tiny">{words.unsigned}</p>}
          </>
        )}
      </section>
    </div>
  );
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
