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
      { threshold: [0, 0.5, 1] },
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

/** Reports whether an element is in view, or the end of one that is larger than the window. */
function isWhole({ intersectionRatio, intersectionRect, boundingClientRect, rootBounds }: IntersectionObserverEntry) {
  if (intersectionRatio >= 0.99) return true;
  const isTaller = boundingClientRect.height > (rootBounds?.height ?? Infinity);
  return isTaller && intersectionRect.height > 0 && intersectionRect.bottom >= boundingClientRect.bottom - 1;
}

/** The size of this window with its bars. A zoomed page has fewer pixels, in the same window. */
function ownSize(): Size {
  return { width: Math.max(outerWidth, innerWidth), height: Math.max(outerHeight, innerHeight) };
}
