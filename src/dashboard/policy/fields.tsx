import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';
import { useContext, useId } from 'preact/hooks';
import type { AssetChoice } from '#dashboard/forms/rules-draft.ts';
import type { FieldFault } from '#dashboard/problem-text.ts';
import { adviceOn } from '#dashboard/problem-text.ts';

/** The fields of the policy form. Each shows its faults, found by the service or by this page. */

const Faults = createContext<readonly FieldFault[]>([]);

/** Provides the faults of the last attempt to the fields below. */
export function FieldFaults(props: { readonly faults: readonly FieldFault[]; readonly children: ComponentChildren }) {
  return <Faults.Provider value={props.faults}>{props.children}</Faults.Provider>;
}

/** Returns the attributes of an input and the text about its faults, by its JSON pointer. */
function useFaultAt(at: string) {
  const id = useId();
  const faults = useContext(Faults).filter(({ pointer }) => pointer === at);
  if (faults.length === 0) return { attributes: {}, text: null };
  const text = (
    <span id={id} class="bad">
      {faults.map(adviceOn).join(' ')}
    </span>
  );
  return { attributes: { 'aria-invalid': true, 'aria-describedby': id } as const, text };
}

/** Shows the faults of a group of fields that belong to no single one of them. */
export function GroupFault({ at }: { readonly at: string }) {
  const { text } = useFaultAt(at);
  return text === null ? null : <p>{text}</p>;
}

interface FieldProps {
  readonly name: string;
  /** JSON pointer into the body of the proposal. */
  readonly at: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

export function Field(props: FieldProps) {
  const { attributes, text } = useFaultAt(props.at);
  return (
    <label>
      {props.name}
      <input
        value={props.value}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => props.set(event.currentTarget.value)}
        {...attributes}
      />
      {text}
    </label>
  );
}

/** An address. The whole of it is in view, also on a phone. */
export function AddressField(props: FieldProps) {
  const { attributes, text } = useFaultAt(props.at);
  return (
    <label>
      {props.name}
      <textarea
        rows={2}
        value={props.value}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => props.set(event.currentTarget.value.replaceAll('\n', ''))}
        {...attributes}
      />
      {text}
    </label>
  );
}

export function Choice(props: {
  readonly name: string;
  readonly at: string;
  readonly value: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly set: (value: string) => void;
}) {
  const { attributes, text } = useFaultAt(props.at);
  return (
    <label>
      {props.name}
      <select value={props.value} onChange={(event) => props.set(event.currentTarget.value)} {...attributes}>
        {Object.entries(props.choices).map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
      {text}
    </label>
  );
}

export function ChainChoice(props: {
  readonly at: string;
  readonly chains: readonly string[];
  readonly value: string;
  readonly set: (chain: string) => void;
}) {
  const chains = [...new Set([...props.chains, props.value])];
  const choices = Object.fromEntries(chains.map((chain) => [chain, chain]));
  return <Choice name="Chain" at={props.at} value={props.value} choices={choices} set={props.set} />;
}

export function Asset(props: {
  /** JSON pointer of the rule. The service names the chain or the token of a refused asset. */
  readonly at: string;
  readonly assets: readonly AssetChoice[];
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  const choices = { '': 'Choose an asset', ...Object.fromEntries(props.assets.map(({ name, text }) => [name, text])) };
  return (
    <>
      <Choice name="Asset" at={`${props.at}/tokenAddress`} value={props.value} choices={choices} set={props.set} />
      <GroupFault at={`${props.at}/chain`} />
    </>
  );
}

/** Lists the rules of one kind, with a button to remove each and a way to add one. */
export function Rows<T extends Readonly<Record<keyof T, string>>>(props: {
  readonly name: string;
  /** JSON pointer of the list. */
  readonly at: string;
  readonly rows: readonly T[];
  readonly blank: T;
  readonly set: (rows: readonly T[]) => void;
  /** Receives what binds an input to a field of the row, and the JSON pointer of the row. */
  readonly children: (of: (field: keyof T & string) => Omit<FieldProps, 'name'>, at: string) => ComponentChildren;
}) {
  const { name, at, rows, blank, set, children } = props;
  const fieldsOf = (row: T, i: number) => (field: keyof T & string) => ({
    at: `${at}/${i}/${field}`,
    value: row[field],
    set: (value: string) => set(rows.with(i, { ...row, [field]: value })),
  });
  return (
    <>
      {rows.map((row, i) => (
        <div key={i} class="rule" role="group" aria-label={`${name} ${i + 1}`}>
          {children(fieldsOf(row, i), `${at}/${i}`)}
          <button type="button" class="no" onClick={() => set(rows.toSpliced(i, 1))}>
            Remove
          </button>
        </div>
      ))}
      <GroupFault at={at} />
      <p>
        <button type="button" onClick={() => set([...rows, blank])}>
          Add {/^[aeiou]/.test(name) ? 'an' : 'a'} {name}
        </button>
      </p>
    </>
  );
}
