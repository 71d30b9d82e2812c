import { useEffect, useState } from 'preact/hooks';

/** Our limit: the second click of a double click on the page before arrives within this time. */
const UNARMED_MS = 700;

/**
 * Renders a button that accepts a click only after the page was visible, and one click at a time.
 */
export function SignButton(props: {
  readonly label: string;
  /** False until the person has completed the steps before. */
  readonly isReady?: boolean;
  readonly sign: () => Promise<void>;
  /** Closes the window. It is null when the page has another way back. */
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
