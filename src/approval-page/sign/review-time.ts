/** How long the details have to be visible, in a focused window, before the page signs. */
export const REVIEW_MS = 1000;
export const TICK_MS = 100;

/** In a smaller window the person may see a button without what it signs. */
export const MIN_WINDOW = { width: 500, height: 600 } as const;

/** What the person can see at one moment. */
export interface View {
  readonly isFocused: boolean;
  readonly isLargeEnough: boolean;
  /** Each detail has been in view, and the button is. */
  readonly isRead: boolean;
}

/**
 * Returns the time for which the details have been visible without a break. It starts again when
 * the window loses the focus or becomes too small. A page whose timers were suspended gains one
 * tick.
 */
export function reviewedMs(beforeMs: number, elapsedMs: number, view: View): number {
  if (!view.isFocused || !view.isLargeEnough || !view.isRead) return 0;
  return beforeMs + Math.min(elapsedMs, TICK_MS);
}

/** The size of a window, or of a screen. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Reports whether a window has the minimum size, or fills a screen that is smaller. */
export function isLargeEnough(own: Size, screen: Size): boolean {
  const { width, height } = MIN_WINDOW;
  return own.width >= Math.min(width, screen.width) && own.height >= Math.min(height, screen.height);
}
