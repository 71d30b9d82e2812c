import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Size } from '#approval-page/sign/review-time.ts';
import { isLargeEnough, REVIEW_MS, reviewedMs, TICK_MS } from '#approval-page/sign/review-time.ts';

/** The attribute of a detail that was not in view yet. The style sheet marks it. */
const UNREAD = 'data-unread';

/**
 * Reports whether the person could read the block that this element is, and how many details were
 * not in view yet. The page that opened this window chooses its size and position, and may scroll
 * it, so a button counts a click only when its details were in view. `showUnread` moves the view
 * and the focus to the first detail that was not.
 */
export function useReview(block: RefObject<HTMLElement | null>) {
  const [view, setView] = useState<ReviewView>({ isReviewed: false, isLargeEnough: true, unread: 0 });
  const first = useRef<() => Element | undefined>(() => undefined);
  const showUnread = () => {
    const detail = first.current();
    detail?.scrollIntoView({ block: 'start' });
    if (!(detail instanceof HTMLElement)) return;
    detail.tabIndex = -1;
    detail.focus({ preventScroll: true });
  };
  useEffect(() => {
    const details = [...(block.current?.querySelectorAll('.detail') ?? [])];
    const unread = new Set<Element>(details);
    // The last detail is the button itself.
    const lines = details.slice(0, -1);
    for (const line of lines) line.setAttribute(UNREAD, '');
    first.current = () => lines.find((line) => unread.has(line));
    let isButtonInView = false;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (isWhole(entry)) {
            unread.delete(entry.target);
            entry.target.removeAttribute(UNREAD);
          }
          if (entry.target === details.at(-1)) isButtonInView = isWhole(entry);
        }
      },
      { threshold: EACH_PERCENT },
    );
    for (const detail of details) observer.observe(detail);
    let [time, last] = [0, performance.now()];
    const timer = setInterval(() => {
      const now = performance.now();
      const isLarge = isLargeEnough(ownSize(), { width: screen.availWidth, height: screen.availHeight });
      const isRead = unread.size === 0 && isButtonInView;
      time = reviewedMs(time, now - last, { isFocused: document.hasFocus(), isLargeEnough: isLarge, isRead });
      last = now;
      const count = lines.filter((line) => unread.has(line)).length;
      const next = { isReviewed: time >= REVIEW_MS, isLargeEnough: isLarge, unread: count };
      // An unchanged view renders nothing: ten renders in a second would only delay a click.
      setView((before) => (isSame(before, next) ? before : next));
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  }, []);
  return { ...view, showUnread };
}

interface ReviewView {
  readonly isReviewed: boolean;
  readonly isLargeEnough: boolean;
  readonly unread: number;
}

function isSame(one: ReviewView, other: ReviewView): boolean {
  return (
    one.isReviewed === other.isReviewed && one.isLargeEnough === other.isLargeEnough && one.unread === other.unread
  );
}

/** The end of a scroll must be noticed, also when it leaves a pixel of an element outside. */
const EACH_PERCENT = Array.from({ length: 101 }, (_, percent) => percent / 100);

/** Browsers scroll to whole pixels, and elements have parts of pixels. */
const SLACK_PX = 2;

/** Reports whether an element is in view, or the end of one that is larger than the window. */
function isWhole({ intersectionRect: seen, boundingClientRect: whole, rootBounds }: IntersectionObserverEntry) {
  if (seen.height === 0 || seen.width < whole.width - SLACK_PX) return false;
  const isTaller = whole.height > (rootBounds?.height ?? Infinity);
  return seen.height >= whole.height - SLACK_PX || (isTaller && seen.bottom >= whole.bottom - SLACK_PX);
}

/** The size of this window with its bars. A zoomed page has fewer pixels, in the same window. */
function ownSize(): Size {
  return { width: Math.max(outerWidth, innerWidth), height: Math.max(outerHeight, innerHeight) };
}
