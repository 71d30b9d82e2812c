import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { PageRequest } from '#approval-page/page-request.ts';
import { MIN_WINDOW } from '#approval-page/sign/review-time.ts';
import { useReview } from '#approval-page/sign/use-review.ts';

/**
 * Renders a block with what a click signs, and the button. The button accepts a click only after
 * the person could read the block, and one click at a time. Each element of the block with the
 * class `detail` has to have been in view. A request that replaces another one without an answer
 * needs a tick as well.
 */
export function SignButton(props: {
  readonly label: string;
  /** True for a rejection, whose button must not look like the one of an approval. */
  readonly isRejection?: boolean;
  /** False until the person has completed the steps before. */
  readonly isReady?: boolean;
  readonly sign: () => Promise<void>;
  readonly requested: PageRequest;
  readonly children: ComponentChildren;
}) {
  const { label, isRejection = false, isReady = true, sign, requested, children } = props;
  const block = useRef<HTMLElement>(null);
  const { isReviewed, isLargeEnough, unread, showUnread } = useReview(block);
  const [isBusy, setBusy] = useState(false);
  const [isAcknowledged, setAcknowledged] = useState(!requested.replacesUnanswered);
  const click = () => {
    setBusy(true);
    void sign().finally(() => setBusy(false));
  };
  const acknowledge = (isTicked: boolean) => {
    if (isTicked) requested.acknowledge();
    setAcknowledged(isTicked);
  };
  return (
    <section class="decision" aria-label="What you sign" ref={block}>
      {children}
      {!isLargeEnough && (
        <p class="refusal" role="alert">
          Make this window larger. It must have at least {MIN_WINDOW.width} × {MIN_WINDOW.height} pixels.
        </p>
      )}
      {requested.replacesUnanswered && (
        <div class="refusal detail">
          <OtherRequest />
          <label>
            <input
              type="checkbox"
              checked={isAcknowledged}
              onChange={(event) => acknowledge(event.currentTarget.checked)}
            />{' '}
            I have read this other request
          </label>
        </div>
      )}
      <Wait
        reason={isLargeEnough && !isBusy ? waitReason({ isReady, unread, isAcknowledged, isReviewed }) : ''}
        showUnread={unread > 0 ? showUnread : null}
      />
      <p>
        <button
          type="button"
          class={isRejection ? 'detail no' : 'detail yes'}
          disabled={!isReviewed || isBusy || !isReady || !isAcknowledged}
          onClick={click}
        >
          {label}
        </button>{' '}
        {requested.way === 'window' && (
          <button type="button" onClick={requested.leave}>
            Close without signing
          </button>
        )}
      </p>
    </section>
  );
}

/** Returns why the button accepts no click; an empty text when it does. */
function waitReason(state: {
  readonly isReady: boolean;
  /** The number of details that were not in view yet. */
  readonly unread: number;
  readonly isAcknowledged: boolean;
  readonly isReviewed: boolean;
}): string {
  const { isReady, unread, isAcknowledged, isReviewed } = state;
  if (!isReady) return 'Complete the steps above.';
  if (unread > 0) return `Read ${unread} more ${unread === 1 ? 'line' : 'lines'}.`;
  if (!isAcknowledged) return 'Tick the box above.';
  return isReviewed ? '' : 'Stay in this window for a second.';
}

/**
 * Shows why the button is inactive. Its height never changes, because the button below must not
 * move under the pointer.
 */
function Wait(props: { readonly reason: string; readonly showUnread: (() => void) | null }) {
  const { reason, showUnread } = props;
  return (
    <div class="wait">
      <span role="status">{reason}</span>
      <button type="button" class={showUnread === null ? 'hidden' : ''} onClick={() => showUnread?.()}>
        Show the first
      </button>
    </div>
  );
}

/** Says that this request is another one than the window showed before. */
export function OtherRequest() {
  return <p>This window was loaded anew. This is another request than the one before, which you did not answer.</p>;
}
