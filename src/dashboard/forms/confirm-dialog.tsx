import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** What a person confirms before something that cannot be undone. */
export interface Confirmation {
  readonly heading: string;
  /** One sentence on what cannot be undone. */
  readonly warning: string;
  /** The label of the button that acts. */
  readonly action: string;
  /** The dialog has a field for a reason. */
  readonly withReason?: true;
}

/** Acts after the confirmation. A reason is absent when the person typed none. */
type Act = (reason?: string) => void;

/**
 * Returns `confirm`, which opens a dialog, and the dialog for the page. The action runs in the
 * click handler of the dialog's button, so it can open a window. A typed reason stays in the field,
 * so it is not lost when the service refuses it.
 *
 * @param about what the dialog is about. When it changes, the dialog closes, because the action
 *   would do something else than its text says.
 */
export function useConfirmation(about = '') {
  const [shown, set] = useState<{ readonly confirmation: Confirmation; readonly act: Act } | null>(null);
  const [reason, type] = useState('');
  useEffect(() => {
    set(null);
  }, [about]);
  return {
    confirm: (confirmation: Confirmation, act: Act) => set({ confirmation, act }),
    dialog: shown !== null && <ConfirmDialog {...shown} reason={reason} type={type} close={() => set(null)} />,
  };
}

/**
 * Shows a confirmation. "Keep" and Escape close it without effect. The focus then returns to the
 * element that had it before. The dialog is not a form: Enter in the field must not act.
 */
function ConfirmDialog(props: {
  readonly confirmation: Confirmation;
  readonly act: Act;
  readonly reason: string;
  readonly type: (reason: string) => void;
  readonly close: () => void;
}) {
  const { confirmation, act, reason, type, close } = props;
  const { heading, warning, action, withReason = false } = confirmation;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const [opened, before] = [dialog.current, document.activeElement];
    opened?.showModal();
    return () => {
      opened?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const confirmed = (event: MouseEvent) => {
    // The second click of a double click on the button that opened the dialog.
    if (event.detail > 1) return;
    close();
    const text = reason.trim();
    if (text === '') act();
    else act(text);
  };
  return (
    <dialog
      class="confirmation"
      ref={dialog}
      onClose={close}
      aria-labelledby={`${id}-heading`}
      aria-describedby={`${id}-warning`}
    >
      <h2 id={`${id}-heading`}>{heading}</h2>
      <p id={`${id}-warning`}>{warning}</p>
      {withReason && (
        <label>
          Reason (optional, shown to the other members)
          <input
            value={reason}
            maxLength={500}
            autoComplete="off"
            onInput={(event) => type(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="doors">
        <button type="button" onClick={close}>
          Keep
        </button>
        <button type="button" class="no" onClick={confirmed}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
