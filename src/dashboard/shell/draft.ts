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
 * @param initial the empty form, whose keys are the fields
 */
export function useDraft<T extends Readonly<Record<string, string>>>(name: string, initial: T) {
  const key = `${PREFIX}${name}`;
  const [draft, set] = useState(() => stored(key, initial));
  const write = (change: Partial<T>) =>
    set((before) => {
      const next = { ...before, ...change };
      sessionStorage.setItem(key, JSON.stringify(next));
      return next;
    });
  const discard = () => {
    sessionStorage.removeItem(key);
    set(initial);
  };
  return { draft, write, discard };
}

/** Removes all drafts of this tab. */
export function discardDrafts(): void {
  const keys = Array.from({ length: sessionStorage.length }, (_, i) => sessionStorage.key(i) ?? '');
  for (const key of keys.filter((one) => one.startsWith(PREFIX))) sessionStorage.removeItem(key);
}

/** Takes the stored texts of known fields. */
function stored<T extends Readonly<Record<string, string>>>(key: string, initial: T): T {
  let parsed: unknown;
  try {
    parsed = JSON.parse(sessionStorage.getItem(key) ?? '{}');
  } catch {
    return initial;
  }
  if (typeof parsed !== 'object' || parsed === null) return initial;
  const kept = Object.keys(initial).flatMap((field) => {
    const value: unknown = Reflect.get(parsed, field);
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
  return { ...initial, ...Object.fromEntries(kept) };
}
