import type { Locator } from 'playwright-core';

/**
 * Scrolls through the details of a button of the approval page and clicks it, as a person does
 * after reading. The button becomes active when each detail has been in view, and the button for a
 * second.
 */
export async function readAndClick(button: Locator): Promise<void> {
  await readDetails(button);
  // The driver scrolls an inactive button to other edges of the window before each try of a click.
  await button.and(button.page().locator(':enabled')).waitFor();
  await button.click();
}

/** Scrolls through the details of a button of the approval page, and then to the button. */
export async function readDetails(button: Locator): Promise<void> {
  await button.waitFor();
  for (const detail of await button.page().locator('.decision .detail').all()) {
    await detail.scrollIntoViewIfNeeded();
    // The page learns what is in view once for each frame.
    await detail.evaluate(
      () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => seen(null)))),
    );
  }
  await button.scrollIntoViewIfNeeded();
}
