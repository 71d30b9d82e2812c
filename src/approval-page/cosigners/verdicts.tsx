import type { Confirmation } from '#approval-page/cosigners/statement-check.ts';

/** Shows which policy each co-signer has in force, by its verified statement. */
export function Verdicts({ confirmation: { verdicts } }: { readonly confirmation: Confirmation }) {
  return (
    <ul class="verdicts">
      {verdicts.map(({ cosigner, says, detail }) => (
        <li key={cosigner} class={says}>
          Co-signer {cosigner}: <strong>{says}</strong>
          {detail !== null && `. ${detail}`}
        </li>
      ))}
    </ul>
  );
}

/** Lets the person enter the fingerprint again, after the keys of the co-signers have changed. */
export function EnterAgain({ again }: { readonly again: () => void }) {
  return (
    <p>
      <button type="button" onClick={again}>
        Enter the fingerprint of the co-signers again
      </button>
    </p>
  );
}
