import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isDeceptive } from '#domain/visible-text.ts';
import { ErrorText } from '#dashboard/loading.tsx';

/** What a person confirms before something that cannot be undone. */
export interface Question {
  readonly heading: string;
  /** One sentence on what cannot be undone. */
  readonly warning: string;
  /** The label of the button that acts. */
  readonly action: string;
  /** The dialog has a field for a reason. */
  readonly takesReason?: true;
}

/** Acts after the confirmation. A reason is absent when the person typed none. */
type Act = (reason?: string) => void;

/**
 * Returns `ask`, which opens a dialog with a question, and the dialog for the page. The action runs
 * in the click handler of the dialog's button, so it can open a window.
 *
 * @param about what the questions are about. When it changes, an open question is closed, because
 *   the action would do something else than the question says.
 */
export function useConfirmation(about = '') {
  const [asked, set] = useState<{ readonly question: Question; readonly act: Act } | null>(null);
  useEffect(() => {
    set(null);
  }, [about]);
  return {
    ask: (question: Question, act: Act) => set({ question, act }),
    dialog: asked !== null && <ConfirmDialog {...asked} close={() => set(null)} />,
  };
}

/**
 * Shows a question. "Keep" and Escape close it without effect. The focus then returns to the
 * element that had it before. The dialog is not a form: Enter in the field must not act.
 */
function ConfirmDialog(props: { readonly question: Question; readonly act: Act; readonly close: () => void }) {
  const { question, act, close } = props;
  const { heading, warning, action, takesReason = false } = question;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, type] = useState('');
  const [fault, setError] = useState<string | null>(null);
  useLayoutEffect(() => {
    const [opened, before] = [dialog.current, document.activeElement];
    opened?.showModal();
    return () => {
      opened?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const confirm = (event: MouseEvent) => {
    // The second click of a double click on the button that opened the dialog.
    if (event.detail > 1) return;
    const text = reason.trim();
    if (isDeceptive(text)) {
      setError('The reason has control characters, or marks that change the direction of text.');
      return;
    }
    close();
    if (text === '') act();
    else act(text);
  };
  return (
    <dialog
      class="question"
      ref={dialog}
      onClose={close}
      aria-labelledby={`${id}-heading`}
      aria-describedby={`${id}-warning`}
    >
      <h2 id={`${id}-heading`}>{heading}</h2>
      <p id={`${id}-warning`}>{warning}</p>
      {takesReason && (
        <label>
          Reason (optional, shown to the other members)
          <input
            value={reason}
            maxLength={200}
            autoComplete="off"
            onInput={(event) => type(event.currentTarget.value)}
          />
        </label>
      )}
      <ErrorText why={fault} />
      <div class="doors">
        <button type="button" onClick={close}>
          Keep
        </button>
        <button type="button" class="no" onClick={confirm}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
