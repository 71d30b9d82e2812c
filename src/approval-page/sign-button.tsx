import { useEffect, useState } from 'preact/hooks';

/** Ours: the second click of a double click, which was meant for the page before, falls into this time. */
const UNARMED_MS = 700;

/** A button that takes a click only after its page was to be seen, and once at a time. */
export function SignButton(props: {
  readonly label: string;
  /** False until the person has done what comes before. */
  readonly isReady?: boolean;
  readonly sign: () => Promise<void>;
  /** Closes the window; null where the page has another way back. */
  readonly close: (() => void) | null;
}) {
  const { label, isReady = true, sign, close } = props;
  const [isArmed, setArmed] = useState(false);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), UNARMED_MS);
    return () => clearTimeout(timer);
  }, []);
  const click = () => {
    setBusy(true);
    void sign().finally(() => setBusy(false));
  };
  return (
    <p>
      <button type="button" class="yes" disabled={!isArmed || isBusy || !isReady} onClick={click}>
        {label}
      </button>{' '}
      {close !== null && (
        <button type="button" onClick={close}>
          Close without signing
        </button>
      )}
    </p>
  );
}
