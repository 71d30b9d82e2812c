import { useState } from 'preact/hooks';

/**
 * What a person types into a form, kept in the tab: it survives Back, a reload, and a login after
 * the session has ended. It ends with the tab, and at "Log out".
 */

const PREFIX = 'conclave/draft/v1/';

/**
 * Returns the draft and functions to change it.
 *
 * @param name names the person and the form: a draft never reaches another person
 * @param read returns the draft of what the tab has kept; null when it has another form
 */
export function useDraft<T>(name: string, initial: () => T, read: (kept: object) => T | null) {
  const key = `${PREFIX}${name}`;
  const [draft, set] = useState(() => keptIn(key, read) ?? initial());
  const write = (change: Partial<T>) =>
    set((before) => {
      const next = { ...before, ...change };
      sessionStorage.setItem(key, JSON.stringify(next));
      return next;
    });
  const discard = () => {
    sessionStorage.removeItem(key);
    set(initial());
  };
  return { draft, write, discard };
}

/** Returns a draft whose fields are texts. */
export function useTextDraft<T extends Readonly<Record<string, string>>>(name: string, empty: T) {
  const read = (kept: object): T => {
    const texts = Object.keys(empty).flatMap((field) => {
      const value: unknown = Reflect.get(kept, field);
      return typeof value === 'string' ? [[field, value] as const] : [];
    });
    return { ...empty, ...Object.fromEntries(texts) };
  };
  return useDraft<T>(name, () => empty, read);
}

/** Removes all drafts of this tab. */
export function discardDrafts(): void {
  const keys = Array.from({ length: sessionStorage.length }, (_, i) => sessionStorage.key(i) ?? '');
  for (const key of keys.filter((one) => one.startsWith(PREFIX))) sessionStorage.removeItem(key);
}

function keptIn<T>(key: string, read: (kept: object) => T | null): T | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    return typeof kept === 'object' && kept !== null ? read(kept) : null;
  } catch {
    return null;
  }
}
