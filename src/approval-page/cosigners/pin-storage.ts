import { minThreshold } from '#approval-page/cosigners/confirm.ts';
import type { Pins } from '#approval-page/cosigners/statement-check.ts';
import { arePins } from '#domain/access/cosigner-pin.ts';

/**
 * Stores the confirmed co-signer keys on the origin of this page, where no script of the
 * coordinator can read or write them. Each dashboard and vault has its own entry, because the keys
 * of one vault prove nothing for another vault.
 */
export function storedPins(
  storage: Storage,
  scope: { readonly dashboard: string; readonly vaultId: number },
): Pins | null {
  const text = storage.getItem(keyOf(scope));
  return text === null ? null : pinsOf(text);
}

/**
 * Parses the stored text: a line with the threshold, then one line for each key. Returns null for a
 * text of another form.
 */
function pinsOf(text: string): Pins | null {
  const [first = '', ...keys] = text.split('\n');
  const cosigners = keys.map((signing, i) => ({ index: i + 1, signing }));
  const threshold = /^[1-9]$/.test(first) ? Number.parseInt(first, 10) : 0;
  const isWhole = arePins(cosigners) && threshold >= minThreshold(cosigners.length) && threshold <= cosigners.length;
  return isWhole ? { cosigners, threshold } : null;
}

export function storePins(
  storage: Storage,
  scope: { readonly dashboard: string; readonly vaultId: number },
  { cosigners, threshold }: Pins,
): void {
  const lines = [String(threshold), ...cosigners.map(({ signing }) => signing)];
  storage.setItem(keyOf(scope), lines.join('\n'));
}

/** Deletes the confirmed keys. The person must enter the fingerprint again. */
export function forgetPins(storage: Storage, scope: { readonly dashboard: string; readonly vaultId: number }): void {
  storage.removeItem(keyOf(scope));
}

function keyOf({ dashboard, vaultId }: { readonly dashboard: string; readonly vaultId: number }): string {
  return `conclave/pins/v1 ${dashboard} ${vaultId}`;
}
