/** Fields with their label above, help below and the service's fault where it belongs. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Common {
  label: string;
  help?: ComponentChildren;
  fault?: string | undefined;
  isDisabled?: boolean;
}

interface Around extends Common {
  children: (ids: { id: string; describedBy: string | undefined }) => ComponentChildren;
}

function Field({ label, help, fault, children }: Around) {
  const id = useId();
  const about = help === undefined && fault === undefined ? undefined : `${id}-about`;
  return (
    <div class={fault === undefined ? 'field' : 'field faulty'}>
      <label for={id}>{label}</label>
      {children({ id, describedBy: about })}
      {about === undefined ? null : (
        <div id={about} class="about">
          {fault === undefined ? help : <span class="fault">{fault}</span>}
        </div>
      )}
    </div>
  );
}

export interface TextProps extends Common {
  value: string;
  onInput(value: string): void;
  type?: 'text' | 'email' | 'password' | 'url' | 'tel' | 'number' | 'date' | 'datetime-local' | 'time' | 'color';
  placeholder?: string;
  autocomplete?: string;
  isRequired?: boolean;
  isMono?: boolean;
  autofocus?: boolean;
  min?: number;
  max?: number;
  step?: number | 'any';
  inputMode?: 'numeric' | 'text';
}

export function Text(props: TextProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The attribute works once a document, and this is a page of many.
    if (props.autofocus === true) input.current?.focus();
  }, [props.autofocus]);
  return (
    <Field {...props}>
      {({ id, describedBy }) => (
        <input
          ref={input}
          id={id}
          class={props.isMono === true ? 'mono' : undefined}
          // One of the plain kinds, whose attributes are the same.
          type={(props.type ?? 'text') as 'text'}
          value={props.value}
          placeholder={props.placeholder}
          autocomplete={props.autocomplete ?? 'off'}
          required={props.isRequired}
          disabled={props.isDisabled}
          min={props.min}
          max={props.max}
          step={props.step}
          inputMode={props.inputMode}
          autofocus={props.autofocus}
          spellcheck={false}
          aria-describedby={describedBy}
          aria-invalid={props.fault === undefined ? undefined : true}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface AreaProps extends Common {
  value: string;
  onInput(value: string): void;
  rows?: number;
  isMono?: boolean;
}

export function Area(props: AreaProps) {
  return (
    <Field {...props}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          class={props.isMono === true ? 'mono' : undefined}
          rows={props.rows ?? 4}
          value={props.value}
          disabled={props.isDisabled}
          spellcheck={props.isMono !== true}
          aria-describedby={describedBy}
          aria-invalid={props.fault === undefined ? undefined : true}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface SelectProps extends Common {
  value: string;
  options: readonly { value: string; label: string }[];
  onInput(value: string): void;
}

export function Select(props: SelectProps) {
  return (
    <Field {...props}>
      {({ id, describedBy }) => (
        <select
          id={id}
          value={props.value}
          disabled={props.isDisabled}
          aria-describedby={describedBy}
          onChange={(event) => props.onInput(event.currentTarget.value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value} selected={value === props.value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface CheckProps extends Common {
  isOn: boolean;
  onInput(isOn: boolean): void;
}

export function Check({ label, help, isOn, isDisabled, onInput }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        aria-describedby={help === undefined ? undefined : `${id}-about`}
        onChange={(event) => onInput(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {help === undefined ? null : (
        <div id={`${id}-about`} class="about">
          {help}
        </div>
      )}
    </div>
  );
}

/** Several of a few. */
export function Choices(props: {
  legend: string;
  options: readonly { value: string; label: string; help?: string }[];
  chosen: readonly string[];
  onInput(chosen: string[]): void;
  fault?: string | undefined;
}) {
  const { legend, options, chosen, onInput, fault } = props;
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(({ value, label, help }) => (
        <Check
          key={value}
          label={label}
          {...(help === undefined ? {} : { help })}
          isOn={chosen.includes(value)}
          onInput={(isOn) => onInput(isOn ? [...chosen, value] : chosen.filter((one) => one !== value))}
        />
      ))}
      {fault === undefined ? null : <div class="about fault">{fault}</div>}
    </fieldset>
  );
}

export function FileInput(props: Common & { accept: string; onInput(file: File | null): void }) {
  return (
    <Field {...props}>
      {({ id, describedBy }) => (
        <input
          id={id}
          type="file"
          accept={props.accept}
          disabled={props.isDisabled}
          aria-describedby={describedBy}
          aria-invalid={props.fault === undefined ? undefined : true}
          onChange={(event) => props.onInput(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}
