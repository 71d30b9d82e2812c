import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { MIN_WINDOW } from '#approval-page/sign/review-time.ts';
import { useReview } from '#approval-page/sign/use-review.ts';

/**
 * Renders a block with what a click signs, and the button. The button accepts a click only after
 * the person could read the block, and one click at a time. Each element of the block with the
 * class `detail` has to have been in view.
 */
export function SignButton(props: {
  readonly label: string;
  /** True for a rejection, whose button must not look like the one of an approval. */
  readonly isRejection?: boolean;
  /** False until the person has completed the steps before. */
  readonly isReady?: boolean;
  readonly sign: () => Promise<void>;
  /** Closes the window. It is null when the page has another way back. */
  readonly close: (() => void) | null;
  readonly children: ComponentChildren;
}) {
  const { label, isRejection = false, isReady = true, sign, close, children } = props;
  const block = useRef<HTMLElement>(null);
  const { isReviewed, isLargeEnough } = useReview(block);
  const [isBusy, setBusy] = useState(false);
  const click = () => {
    setBusy(true);
    void sign().finally(() => setBusy(false));
  };
  return (
    <section class="decision" aria-label="What you sign" ref={block}>
      {children}
      {!isLargeEnough && (
        <p class="refusal" role="alert">
          Make this window larger. It must have at least {MIN_WINDOW.width} × {MIN_WINDOW.height} pixels.
        </p>
      )}
      <p class="detail">
        <button
          type="button"
          class={isRejection ? 'no' : 'yes'}
          disabled={!isReviewed || isBusy || !isReady}
          onClick={click}
        >
          {label}
        </button>{' '}
        {close !== null && (
          <button type="button" onClick={close}>
            Close without signing
          </button>
        )}
      </p>
    </section>
  );
}
