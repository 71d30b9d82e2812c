import { useState } from 'preact/hooks';
import { forgetPins, storedPins, storePins } from '#approval-page/cosigners/pin-storage.ts';
import type { Pins } from '#approval-page/cosigners/statement-check.ts';

/** The confirmed keys of the co-signers of a vault, as the person entered them on this page. */
export interface ConfirmedPins {
  /** Null until the person has confirmed the keys. */
  readonly pins: Pins | null;
  /** Stores confirmed keys, and continues with them. */
  readonly confirmed: (pins: Pins) => void;
  /** Stores the keys that a quorum adopted, for the next request. */
  readonly learn: (pins: Pins) => void;
  /** Deletes the keys, so that the person enters the fingerprint again. */
  readonly again: () => void;
}

export function usePins(dashboard: string, vaultId: number): ConfirmedPins {
  const scope = { dashboard, vaultId };
  const [pins, setPins] = useState<Pins | null>(() => storedPins(localStorage, scope));
  const learn = (stated: Pins) => storePins(localStorage, scope, stated);
  return {
    pins,
    learn,
    confirmed: (entered) => {
      learn(entered);
      setPins(entered);
    },
    again: () => {
      forgetPins(localStorage, scope);
      setPins(null);
    },
  };
}
