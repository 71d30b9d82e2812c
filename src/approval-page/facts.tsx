import type { Fact } from '#approval-page/read/fact.ts';

const GROUP = /.{1,4}/gu;

/** What an approval does, line by line. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(({ label, text, address, raw }, i) => (
        // Two lines may say the same: their place names them.
        <div key={i}>
          <dt>{label}</dt>
          <dd>
            {text}
            {address !== undefined && <Address value={address} />}
            {raw !== undefined && <pre>{raw}</pre>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The whole address in groups of four to compare. The gaps are drawn, so that a copy has none. */
function Address({ value }: { readonly value: string }) {
  return (
    <code class="address">
      {(value.match(GROUP) ?? [value]).map((group, i) => (
        <span key={i}>{group}</span>
      ))}
    </code>
  );
}
