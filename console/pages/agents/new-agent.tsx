/** A new agent, from an example that can be talked to as it is. */
import { useState } from 'preact/hooks';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { clientOf } from '../../api/request.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { go, to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { useDraft } from '../../ui/draft.ts';
import { isSignedOut, wordsOf } from '../../ui/error-words.ts';
import { Icon } from '../../ui/icons.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { asText } from './definition-text.ts';
import { DefinitionEditor, parsed } from './editor.tsx';
import { EXAMPLES } from './examples.ts';
import { type Fault, faultsIn } from './known-agent.ts';

export function NewAgent({ enterprise }: { enterprise: string }) {
  const { value: text, set: setText, forget } = useDraft(`agent.${enterprise}.new`, asText(EXAMPLES.scripted));
  const [faults, setFaults] = useState<Fault[]>([]);
  const [error, setError] = useState<unknown>();
  const definition = parsed(text);
  async function create(): Promise<void> {
    if (definition === null) return;
    setFaults([]);
    setError(undefined);
    try {
      const { data } = await clientOf(enterprise).createAgent({ body: { definition } });
      forget();
      toast(words.created);
      go(to(['w', enterprise, 'agents', data.agent.id, 'try']));
    } catch (fault) {
      if (fault instanceof ParleyError && fault.code === 'invalid_agent') setFaults(faultsIn(fault));
      else if (!isSignedOut(fault)) setError(fault);
    }
  }
  return (
    <Page
      title={words.create}
      isWide
      above={
        <a class="back" href={to(['w', enterprise, 'agents'])}>
          <Icon name="left" size={14} /> {words.back}
        </a>
      }
      actions={
        <Button kind="main" isDisabled={definition === null} onPress={create}>
          {words.createAction}
        </Button>
      }
    >
      <div class="line">
        <span class="soft">{words.createStart}</span>
        {(['scripted', 'cascade'] as const).map((kind) => (
          <Button
            key={kind}
            isPressed={definition?.['kind'] === kind}
            onPress={() => {
              setText(asText(EXAMPLES[kind]));
              setFaults([]);
            }}
          >
            {words.templates[kind]}
          </Button>
        ))}
      </div>
      {error === undefined ? null : <Notice kind="error">{wordsOf(error).title}</Notice>}
      <DefinitionEditor text={text} onInput={setText} faults={faults} isReadOnly={false} />
    </Page>
  );
}
