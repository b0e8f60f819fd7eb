/**
 * An agent's definition as a form and as JSON, side by side and always the same. Faults stand at their fields, and lead
 * to their place in the JSON. What was typed outlives the page; who saves after somebody else sees the difference.
 */
import { useRef, useState } from 'preact/hooks';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { Button } from '../../ui/button.tsx';
import { useDraft } from '../../ui/draft.ts';
import { isSignedOut, wordsOf } from '../../ui/error-words.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { Conflict } from './conflict.tsx';
import { DefinitionForm } from './definition-form.tsx';
import { asText } from './definition-text.ts';
import { faultPlace, placeOf } from './json-place.ts';
import { type Fault, faultsIn, type KnownAgent } from './known-agent.ts';

export function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export function Editor(props: { enterprise: string; known: KnownAgent; onSaved(): void }) {
  const { enterprise, known, onSaved } = props;
  const { agent } = known;
  const stored = asText(agent.definition);
  const draft = useDraft(`agent.${enterprise}.${agent.id}`, stored, known.etag);
  const { value: text, set: setText, forget } = draft;
  const [faults, setFaults] = useState<Fault[]>([]);
  const [error, setError] = useState<unknown>();
  const [warnings, setWarnings] = useState<Fault[]>([]);
  const [conflict, setConflict] = useState<KnownAgent | null>(null);
  const definition = parsed(text);
  const isChanged = text !== stored;
  const mayWrite = may('settings:write');

  async function save(etag: string | null): Promise<void> {
    if (definition === null) return;
    setError(undefined);
    setFaults([]);
    setWarnings([]);
    const client = clientOf(enterprise);
    try {
      const { data } = await client.createAgentVersion(
        { agentId: agent.id, body: { definition } },
        etag === null ? {} : { headers: { 'if-match': etag } },
      );
      forget();
      setConflict(null);
      setWarnings(data.warnings);
      toast(words.saved(data.agent.version));
      onSaved();
    } catch (fault) {
      if (fault instanceof ParleyError && fault.status === 412) {
        const now = await client.readAgent({ agentId: agent.id });
        setConflict({ agent: now.data, etag: now.etag });
      } else if (fault instanceof ParleyError && fault.code === 'invalid_agent') setFaults(faultsIn(fault));
      else if (!isSignedOut(fault)) setError(fault);
    }
  }
  return (
    <div class="stack">
      {isChanged ? (
        <div class="line apart">
          <span class="soft">{draft.basedOn === known.etag ? words.draft : words.draftOld(agent.latestVersion)}</span>
          <div class="actions">
            <Button
              onPress={() => {
                setText(stored);
                setFaults([]);
              }}
            >
              {words.discard}
            </Button>
            <Button kind="main" isDisabled={definition === null || !mayWrite} onPress={() => save(draft.basedOn)}>
              {words.saveVersion}
            </Button>
          </div>
        </div>
      ) : null}
      {error === undefined ? null : <Notice kind="error">{wordsOf(error).title}</Notice>}
      {warnings.length === 0 ? null : (
        <Notice kind="warn">
          <strong>{words.warnings}</strong>
          {warnings.map(({ path, problem }) => (
            <p key={path}>
              <code>{path}</code> {problem}
            </p>
          ))}
        </Notice>
      )}
      <DefinitionEditor text={text} onInput={setText} faults={faults} isReadOnly={!mayWrite} />
      {conflict === null ? null : (
        <Conflict
          theirs={conflict}
          mine={definition === null ? text : asText(definition)}
          onKeepMine={() => save(conflict.etag)}
          onTakeTheirs={() => {
            setText(asText(conflict.agent.definition));
            forget();
            setConflict(null);
            onSaved();
          }}
          onClose={() => setConflict(null)}
        />
      )}
    </div>
  );
}

function whyNoDefinition(text: string): string {
  const place = faultPlace(text);
  return place === null ? words.badJsonKind : words.badJsonAt(place.line, place.column);
}

/** The form and the JSON; also of an agent that is not stored yet. */
export function DefinitionEditor(props: {
  text: string;
  faults: readonly Fault[];
  isReadOnly: boolean;
  onInput(text: string): void;
}) {
  const { text, faults, isReadOnly, onInput } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const definition = parsed(text);
  function show(path: string): void {
    const place = placeOf(text, path);
    const element = area.current;
    if (place === null || element === null) return;
    element.focus();
    element.setSelectionRange(...place);
    // Browsers do not bring a selection into view by themselves.
    const line = text.slice(0, place[0]).split('\n').length;
    element.scrollTop = Math.max(0, (line - 6) * 18);
  }
  return (
    <div class="editor">
      <div class="stack">
        {definition === null ? (
          <Notice kind="warn">{whyNoDefinition(text)}</Notice>
        ) : (
          <DefinitionForm
            definition={definition}
            faults={faults}
            isReadOnly={isReadOnly}
            onChange={(next) => onInput(asText(next))}
          />
        )}
      </div>
      <div class="stack tight">
        {faults.length === 0 ? null : (
          <Notice kind="error">
            <strong>{words.faults(faults.length)}</strong>
            <ul class="faults">
              {faults.map(({ path, problem }) => (
                <li key={`${path} ${problem}`}>
                  <button type="button" class="inline" onClick={() => show(path)}>
                    <code>{path === '' ? words.editor : path}</code>
                  </button>{' '}
                  {problem}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <textarea
          ref={area}
          class="mono"
          rows={30}
          spellcheck={false}
          readOnly={isReadOnly}
          aria-label={words.json}
          aria-invalid={definition === null || faults.length > 0}
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}
