import type { Locator } from 'playwright-core';

/**
 * Scrolls to a button of the approval page and clicks it, as a person does after reading. The
 * button becomes active when its details have been in view for a second.
 */
export async function readAndClick(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  await button.click();
}
