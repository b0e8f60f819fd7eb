/** Copies a text; for ids, addresses and what is shown only once. */
import { common } from '../texts/en/common.ts';
import { Button } from './button.tsx';
import { toast } from './toast.tsx';

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  toast(common.copied);
}

export function Copy({ text, label = common.copy }: { text: string; label?: string }) {
  return <Button kind="quiet" icon="copy" label={label} onPress={() => copyText(text)} />;
}

/** A secret or an address in a box of its own. */
export function CopyBox({ text, label }: { text: string; label: string }) {
  return (
    <div class="copy-box">
      <code>{text}</code>
      <Button icon="copy" onPress={() => copyText(text)}>
        {label}
      </Button>
    </div>
  );
}
