import { useEffect, useState } from 'preact/hooks';

/** One polite live region for the whole dashboard: screen readers read its new text once. */

const EVENT = 'conclave:announcement';

/** Announces a change that sighted readers see elsewhere on the page. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(EVENT, { detail: text }));
}

/** The region. The shell renders it once, before any announcement. */
export function Announcements() {
  const [{ text, turn }, set] = useState({ text: '', turn: 0 });
  useEffect(() => {
    const show = (event: Event) => {
      if (!(event instanceof CustomEvent)) return;
      const next = String(event.detail);
      set((before) => ({ text: next, turn: before.turn + 1 }));
    };
    addEventListener(EVENT, show);
    return () => removeEventListener(EVENT, show);
  }, []);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {/* A new element is announced again when the text is the same. */}
      <span key={turn}>{text}</span>
    </div>
  );
}
