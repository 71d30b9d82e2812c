import { useEffect, useState } from 'preact/hooks';
import { announce } from '#dashboard/shell/announcement.tsx';

/** Copies a text, and says so to sighted readers and to screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, show] = useState('');
  useEffect(() => show(''), [text]);
  const report = (result: string) => {
    show(result);
    announce(result);
  };
  const copy = () => {
    show('');
    navigator.clipboard.writeText(text).then(
      () => report('Copied'),
      () => report('Not copied. Select the text and copy it.'),
    );
  };
  return (
    <>
      <button type="button" aria-label={`Copy ${what}`} onClick={copy}>
        Copy
      </button>{' '}
      <span class="quiet">{outcome}</span>
    </>
  );
}
