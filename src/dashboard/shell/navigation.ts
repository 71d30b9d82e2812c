import type { BaseLocationHook } from 'wouter-preact';
import { useSearchParams } from 'wouter-preact';
import { useLocationProperty } from 'wouter-preact/use-browser-location';

/**
 * Pages have their path and their filters after the `#`: `#/vault/1?state=FAILED`. The paths before
 * it belong to the API.
 */

/** Returns the path after the `#`, without the filters. */
function pathNow(): string {
  return location.hash.slice(1).split('?')[0] || '/';
}

function searchNow(): string {
  return location.hash.split('?')[1] ?? '';
}

/** Opens a page. */
export function openPage(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${path}`);
}

/** Returns the address of the login, which returns to the open page. */
export function loginAddress(): string {
  return `/login?to=${encodeURIComponent(`/${location.hash}`)}`;
}

export const useHashPath: BaseLocationHook = () => [useLocationProperty(pathNow), openPage];
useHashPath.searchHook = () => useLocationProperty(searchNow);
useHashPath.hrefs = (path) => `#${path}`;

/**
 * Returns one number of the address, such as the number of loaded pages of a list, and a function
 * that sets it. It survives Back and a reload. Another value than 1 to `most` reads as 1.
 */
export function useNumberInAddress(name: string, most: number): readonly [number, (value: number) => void] {
  const [params, set] = useSearchParams();
  const text = params.get(name) ?? '';
  const value = /^[1-9][0-9]{0,3}$/.test(text) ? Number.parseInt(text, 10) : 1;
  const write = (to: number) =>
    set(
      (before) => {
        before.set(name, String(to));
        return before;
      },
      { replace: true },
    );
  return [value <= most ? value : 1, write];
}

/**
 * Reports whether the person returned to the open page by Back or Forward. An entry of the history
 * is marked when its page opens.
 */
export function isReturned(): boolean {
  const visited: unknown = history.state;
  if (visited === MARK) return true;
  history.replaceState(MARK, '');
  return false;
}

const MARK = 'conclave-visited';
