import type { Fact } from '#review/fact.ts';

const GROUP = /.{1,4}/gu;

/** Shows what an approval does, line by line. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(({ label, text, address, raw }, i) => (
        // Two lines may have the same text, so the index is the key.
        <div key={i} class="detail">
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

/**
 * Shows the whole address in groups of four. The gaps are drawn by the style sheet, so a copied
 * address has none.
 */
function Address({ value }: { readonly value: string }) {
  return (
    <code class="address">
      {(value.match(GROUP) ?? [value]).map((group, i) => (
        <span key={i}>{group}</span>
      ))}
    </code>
  );
}
