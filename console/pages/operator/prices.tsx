/**
 * What units of providers cost, of which the call log makes the cost of a call. A price is never changed: it has a
 * next one.
 */
import { useState } from 'preact/hooks';
import type { NewPrice, Price } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { common } from '../../texts/en/common.ts';
import { priceWords as words } from '../../texts/en/operator.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

const client = clientOf('-');
const MICROS = 1_000_000;
/** A provider that comes is missed here by the compiler. */
const PROVIDERS: Readonly<Record<NewPrice['provider'], string>> = {
  anthropic: 'Anthropic',
  assemblyai: 'AssemblyAI',
  cartesia: 'Cartesia',
  deepgram: 'Deepgram',
  elevenlabs: 'ElevenLabs',
  gemini: 'Google Gemini',
  openai_compatible: 'OpenAI-compatible',
};
const UNITS = Object.keys(words.units) as (keyof typeof words.units)[];

export function Prices() {
  const [isPast, setPast] = useState(false);
  const prices = useLoad(
    async (signal) => (await client.listPrices({ history: isPast ? 'true' : 'false' }, { signal })).data.data,
    [isPast],
  );
  /** Null: one of nothing that has a price yet. */
  const [next, setNext] = useState<Price | null | undefined>(undefined);
  const { columns: names } = words;
  return (
    <Section
      title={words.title}
      about={words.about}
      isFlush
      actions={
        <Button kind="main" icon="plus" onPress={() => setNext(null)}>
          {words.add}
        </Button>
      }
    >
      <div class="pad">
        <Check label={words.past} isOn={isPast} onInput={setPast} />
      </div>
      <Shown of={prices}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={words.empty}>{words.emptyHint}</Empty>
          ) : (
            <Table
              label={words.title}
              rows={all}
              keyOf={({ provider, model, unit, version }) => `${provider} ${model} ${unit} ${version}`}
              columns={[
                { name: names.provider, cell: ({ provider }) => provider },
                { name: names.model, cell: ({ model }) => (model === '*' ? words.anyModel : <Words>{model}</Words>) },
                { name: names.unit, cell: ({ unit }) => words.units[unit] },
                { name: names.price, isNumber: true, cell: amountOf },
                { name: names.from, cell: ({ effectiveAt }) => <Time at={effectiveAt} /> },
                {
                  name: names.actions,
                  isHidden: true,
                  cell: (price) => (
                    <Button kind="quiet" onPress={() => setNext(price)}>
                      {words.change}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Shown>
      {next === undefined ? null : (
        <PriceDialog
          known={next}
          currency={prices.data?.[0]?.currency ?? null}
          onClose={() => setNext(undefined)}
          onChange={prices.reload}
        />
      )}
    </Section>
  );
}

function amountOf({ priceMicros, currency }: Price): string {
  return priceMicros === null ? words.noPrice : `${priceMicros / MICROS} ${currency}`;
}

function PriceDialog(props: { known: Price | null; currency: string | null; onClose(): void; onChange(): void }) {
  const { known, onClose, onChange } = props;
  const [provider, setProvider] = useState<string>(known?.provider ?? 'openai_compatible');
  const [model, setModel] = useState(known?.model ?? '*');
  const [unit, setUnit] = useState<string>(known?.unit ?? UNITS[0]!);
  const [price, setPrice] = useState(known?.priceMicros == null ? '' : String(known.priceMicros / MICROS));
  const [currency, setCurrency] = useState(props.currency ?? 'USD');
  const [from, setFrom] = useState('');
  async function save(): Promise<void> {
    const body = {
      provider,
      model,
      unit,
      priceMicros: price.trim() === '' ? null : Math.round(Number(price) * MICROS * 1_000) / 1_000,
      ...(props.currency === null ? { currency } : {}),
      ...(from === '' ? {} : { effectiveAt: new Date(from).toISOString() }),
    } as NewPrice;
    await client.setPrice({ body });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={known === null ? words.add : words.change} onClose={onClose}>
      <Form
        submit={save}
        action={common.save}
        fields={['provider', 'model', 'unit', 'priceMicros', 'currency', 'effectiveAt']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Select
              label={words.columns.provider}
              value={provider}
              isDisabled={known !== null}
              fault={faults['provider']}
              options={Object.entries(PROVIDERS).map(([value, label]) => ({ value, label }))}
              onInput={setProvider}
            />
            <Text
              label={words.columns.model}
              help={words.modelHelp}
              isMono
              isRequired
              isDisabled={known !== null}
              value={model}
              fault={faults['model']}
              onInput={setModel}
            />
            <Select
              label={words.columns.unit}
              value={unit}
              isDisabled={known !== null}
              fault={faults['unit']}
              options={UNITS.map((one) => ({ value: one, label: words.units[one] }))}
              onInput={setUnit}
            />
            <div class="columns">
              <Text
                label={words.columns.price}
                help={words.priceHelp}
                type="number"
                min={0}
                step="any"
                value={price}
                fault={faults['priceMicros']}
                onInput={setPrice}
              />
              <Text
                label={words.currency}
                help={props.currency === null ? words.currencyHelp : undefined}
                isDisabled={props.currency !== null}
                value={currency}
                fault={faults['currency']}
                onInput={setCurrency}
              />
            </div>
            <Text
              label={words.columns.from}
              help={words.fromHelp}
              type="datetime-local"
              value={from}
              fault={faults['effectiveAt']}
              onInput={setFrom}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
