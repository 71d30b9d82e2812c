import { useState } from 'preact/hooks';
import { minThreshold } from '#approval-page/cosigners/confirm.ts';
import type { Pins } from '#approval-page/cosigners/statement-check.ts';
import { isFingerprintOf } from '#devices/pin-fingerprint.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';

/**
 * Lets the person enter the fingerprint of the co-signers' keys once. The page does not show the
 * fingerprint of the keys that the server sent, because the person would confirm whatever the
 * server sends.
 */
export function ConfirmPins(props: {
  readonly claimed: readonly CosignerPin[];
  readonly vaultId: number;
  readonly confirmed: (pins: Pins) => void;
}) {
  const { claimed, vaultId, confirmed } = props;
  const [fault, setFault] = useState<string | null>(null);
  const [count, least] = [claimed.length, minThreshold(claimed.length)];
  const check = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const fields = new FormData(form);
    const text = (name: string) => {
      const value = fields.get(name);
      return typeof value === 'string' ? value : '';
    };
    const threshold = Number.parseInt(text('threshold'), 10);
    if (!isFingerprintOf(text('fingerprint'), claimed)) {
      setFault(
        'The fingerprint does not match the keys from the server. Check what you typed. If it is right, do not approve.',
      );
      return;
    }
    confirmed({ cosigners: claimed, threshold: Math.max(least, Math.min(count, threshold || count)) });
  };
  return (
    <section>
      <h1>Confirm the co-signers of vault {vaultId}</h1>
      <p>
        This page needs the keys of the {count} co-signers before it shows a request. Get the fingerprint from the
        operators of the co-signers, not from the dashboard. You enter it once.
      </p>
      <form onSubmit={check}>
        <label>
          Fingerprint of the co-signers
          <input name="fingerprint" autocomplete="off" autocapitalize="none" spellcheck={false} required />
        </label>
        <label>
          Co-signers that sign together
          <select name="threshold" required>
            <option value="">Choose the number from the operators</option>
            {Array.from({ length: count - least + 1 }, (_, i) => (
              <option key={i} value={String(least + i)}>
                {least + i} of {count}
              </option>
            ))}
          </select>
        </label>
        <p>
          <button type="submit" class="yes">
            Confirm
          </button>
        </p>
      </form>
      {fault !== null && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}
