/** What is shown, as a file: read page by page in the background, with how far it is, and a way to stop it. */
import { useRef, useState } from 'preact/hooks';
import { clientOf } from '../../api/request.ts';
import { calls as words } from '../../texts/en/calls.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { toast } from '../../ui/toast.tsx';
import { csvHeader, csvLine } from './csv.ts';

const PAGE = 200;
const MOST = 100_000;

export function ExportMenu(props: {
  enterprise: string;
  filters: Record<string, string>;
  onProgress(words: string | null): void;
}) {
  const { enterprise, filters, onProgress } = props;
  const [isRunning, setRunning] = useState(false);
  const stopped = useRef<AbortController | null>(null);

  async function run(kind: 'csv' | 'ndjson'): Promise<void> {
    const stop = new AbortController();
    stopped.current = stop;
    setRunning(true);
    const parts: string[] = kind === 'csv' ? [csvHeader()] : [];
    let count = 0;
    try {
      for (let cursor: string | null = ''; cursor !== null && count < MOST; ) {
        const asked = { ...filters, ...(cursor === '' ? {} : { cursor }), limit: PAGE };
        const { data } = await clientOf(enterprise).listCalls(asked, { signal: stop.signal });
        parts.push(...data.data.map((call) => (kind === 'csv' ? csvLine(call) : `${JSON.stringify(call)}\n`)));
        count += data.data.length;
        cursor = data.nextCursor;
        onProgress(words.exporting(count));
      }
      const day = new Date().toISOString().slice(0, 10);
      saveFile(`calls-${enterprise}-${day}.${kind}`, parts, kind === 'csv' ? 'text/csv' : 'application/x-ndjson');
      toast(count >= MOST ? words.exportMost(MOST) : words.exported(count));
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      onProgress(null);
      setRunning(false);
    }
  }
  if (isRunning) return <Button onPress={() => stopped.current?.abort()}>{words.exportStop}</Button>;
  return (
    <Menu
      label={words.export}
      button={
        <>
          <Icon name="download" />
          <span>{words.export}</span>
        </>
      }
      items={[
        { label: words.exportCsv, run: () => run('csv') },
        { label: words.exportNdjson, run: () => run('ndjson') },
      ]}
    />
  );
}
