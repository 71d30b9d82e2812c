import type { Page } from 'playwright-core';

/** Answers the question before something that cannot be undone, with a reason if there is one. */
export async function confirmInDialog(page: Page, action: string, reason?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: action, exact: true }).click();
}
