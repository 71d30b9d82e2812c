import { minThreshold } from '#approval-page/verified-request.ts';
import type { Pins } from '#approval-page/statement-check.ts';
import { arePins } from '#domain/policy/cosigner-pin.ts';

/**
 * The confirmed keys of co-signers, kept on the origin of this page, where no script of the coordinator
 * reads or writes. One entry for each dashboard and vault: the keys of one vault prove nothing for another.
 */
export function storedPins(
  storage: Storage,
  scope: { readonly dashboard: string; readonly vaultId: number },
): Pins | null {
  const text = storage.getItem(keyOf(scope));
  return text === null ? null : pinsOf(text);
}

/** One line for each key after the line of the threshold. Null for a text of another form. */
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

/** The person has to enter the fingerprint again. */
export function forgetPins(storage: Storage, scope: { readonly dashboard: string; readonly vaultId: number }): void {
  storage.removeItem(keyOf(scope));
}

function keyOf({ dashboard, vaultId }: { readonly dashboard: string; readonly vaultId: number }): string {
  return `conclave/pins/v1 ${dashboard} ${vaultId}`;
}
