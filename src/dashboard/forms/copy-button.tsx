import { useEffect, useState } from 'preact/hooks';

/** Copies a text, and says so to sighted readers and to screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState('');
  useEffect(() => setOutcome(''), [text]);
  const copy = () => {
    setOutcome('');
    navigator.clipboard.writeText(text).then(
      () => setOutcome('Copied'),
      () => setOutcome('Not copied. Select the text and copy it.'),
    );
  };
  return (
    <>
      <button type="button" aria-label={`Copy ${what}`} onClick={copy}>
        Copy
      </button>{' '}
      <span class="quiet" role="status">
        {outcome}
      </span>
    </>
  );
}
