import type { Fact } from '#review/fact.ts';

const GROUP = /.{1,4}/gu;

/** Shows what an approval does, line by line, as the approval page does. */
export function ReviewFacts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ label, text, address, raw }, i) => (
        // Two lines may have the same text, so the index is the key.
        <div key={i}>
          <dt>{label}</dt>
          <dd>
            {text}
            {address !== undefined && <Address value={address} />}
            {raw !== undefined && <pre class="as-typed">{raw}</pre>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * Shows the whole address in groups of four. The style sheet draws the gaps, so a copied address
 * has none.
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

export function ReviewWarnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <div class="problem" role="alert" aria-label="Warnings">
      <ul class="plain">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </div>
  );
}
