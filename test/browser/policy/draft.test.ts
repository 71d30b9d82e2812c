import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';

/** Covers a signer who edits a policy: the live difference, and refused drafts. */

const executable = chromiumHere();
const PROPOSALS = '**/policy-change';

describe.skipIf(executable === null)('the draft of a policy change', () => {
  let scene: BrowserWorld;
  let path: string;

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    path = `/vault/${scene.vault.id}/rules`;
  });
  afterAll(() => scene.end());

  const editor = async () => {
    const { page } = await scene.pageOf('alice', { viewport: { width: 390, height: 844 } });
    await scene.goTo(page, path);
    const difference = page.getByRole('region', { name: 'What this changes' });
    await difference.getByText('Nothing yet.').waitFor();
    return { page, difference, propose: page.getByRole('button', { name: 'Submit for approval' }) };
  };

  test('shows its difference and its weakenings while it is typed, without a request', async () => {
    const { page, difference } = await editor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const threshold = page.getByLabel('Approval threshold');
    await threshold.fill('1');
    await difference.getByText('Changed: Approval threshold').waitFor();
    await difference.getByText('from 2 to 1').waitFor();
    await difference.getByText('A transaction requires fewer approvals than before.').waitFor();
    await threshold.fill('two');
    await difference.getByText('Approval threshold: Enter a number from 1 to 99.').waitFor();
    expect(await difference.getByText('from 2 to 1').count()).toBe(0);
    await threshold.fill('2');
    await difference.getByText('Nothing yet.').waitFor();
    await page.getByRole('button', { name: 'Add an address' }).click();
    const address = page.getByRole('group', { name: 'address 1' });
    await address.getByLabel('Name').fill('Landlord');
    await address.getByLabel('Address').fill('0x1234');
    await difference.getByText('Address 1, Address: Enter an address of this chain.').waitFor();
    const landlord = await scene.world.chain.account(7);
    await address.getByLabel('Address').fill(landlord);
    await difference.getByText(`“Landlord” is ${landlord}`).waitFor();
    expect(requests).toEqual([]);
    // The whole address is in view on a phone.
    const isWhole = (input: HTMLElement | SVGElement) => input.scrollHeight <= input.clientHeight;
    expect(await address.getByLabel('Address').evaluate(isWhole)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });

  test('keeps what was typed when it is refused, and shows a refused field at its field', async () => {
    const { page, propose } = await editor();
    const [threshold, reason] = [page.getByLabel('Approval threshold'), page.getByLabel('Reason')];
    await threshold.fill('9');
    await reason.fill('More eyes');
    await propose.click();
    // The service refuses it.
    const advice = 'Must be from 1 to the number of signers.';
    await page
      .getByRole('alert')
      .filter({ hasText: `Approval threshold: ${advice}` })
      .waitFor();
    const describedBy = await threshold.getAttribute('aria-describedby');
    expect(await threshold.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(`[id="${describedBy}"]`).textContent()).toBe(advice);
    const kept = async () => [await threshold.inputValue(), await reason.inputValue()];
    expect(await kept()).toEqual(['9', 'More eyes']);

    await threshold.fill('3');
    const problem = { code: 'quota-exceeded', title: 'Too many requests', detail: 'Wait.' };
    await page.route(PROPOSALS, (route) => route.fulfill({ status: 429, json: problem }));
    await propose.click();
    await page.getByRole('alert').filter({ hasText: 'Too many requests' }).waitFor();
    expect(await kept()).toEqual(['3', 'More eyes']);
    expect(await threshold.getAttribute('aria-invalid')).toBe(null);

    await page.unroute(PROPOSALS);
    await page.route(PROPOSALS, (route) => route.abort());
    await propose.click();
    await page.getByRole('alert').filter({ hasText: 'The server cannot be reached' }).waitFor();
    expect(await kept()).toEqual(['3', 'More eyes']);

    await page.unroute(PROPOSALS);
    await propose.click();
    await page.getByText('Note by you: “More eyes”').waitFor();
  });

  test('is compared with the last payments on request, and a pending change without one', async () => {
    const id = await scene.transferOf('compared');
    const { page, difference, propose } = await editor();
    await page.getByLabel('Approval threshold').fill('1');
    await page.getByLabel('Reason').fill('Fewer eyes');
    await difference.getByRole('button', { name: 'Compare with the last 100 payments' }).click();
    const sentence = 'Of 1 payment, 1 would have needed 1 approval instead of 2.';
    await difference.getByText(sentence).waitFor();
    await difference.getByText('Show the payment').click();
    expect(await difference.getByRole('link').getAttribute('href')).toBe(`#/transaction/${id}`);
    // A result of an older draft is never shown.
    await page.getByLabel('Approval threshold').fill('3');
    expect(await difference.getByText(sentence).count()).toBe(0);
    await page.getByLabel('Approval threshold').fill('1');
    await propose.click();
    const article = page.getByRole('article').filter({ hasText: 'Fewer eyes' });
    await article.getByText(sentence).waitFor();
  });
});
