import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Size } from '#approval-page/sign/review-time.ts';
import { isLargeEnough, REVIEW_MS, reviewedMs, TICK_MS } from '#approval-page/sign/review-time.ts';

/**
 * Reports whether the person could read the block that this element is. The page that opened this
 * window chooses its size and position, and may scroll it, so a button counts a click only when its
 * details were in view.
 */
export function useReview(block: RefObject<HTMLElement | null>) {
  const [view, setView] = useState({ isReviewed: false, isLargeEnough: true });
  useEffect(() => {
    const details = [...(block.current?.querySelectorAll('.detail') ?? [])];
    const unread = new Set<Element>(details);
    let isButtonInView = false;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (isWhole(entry)) unread.delete(entry.target);
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
      setView({ isReviewed: time >= REVIEW_MS, isLargeEnough: isLarge });
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  }, []);
  return view;
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
