import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';

/**
 * Covers the policy page: it shows the statements of the co-signers, and says that the page alone
 * proves nothing.
 */

const executable = chromiumHere();

interface PolicyAnswer {
  readonly statements: readonly { readonly cosigner: number; readonly statement: object | null }[] | null;
}

describe.skipIf(executable === null)('statements of the co-signers', () => {
  let scene: BrowserWorld;

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  test('the policy page shows each co-signer as agreeing, disagreeing or unknown, and says that this proves nothing', async () => {
    const { page, complaints } = await scene.pageOf('alice');
    const nonces: (string | null)[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.searchParams.has('nonce')) nonces.push(url.searchParams.get('nonce'));
    });
    const section = page.getByRole('region', { name: 'Co-signers' });
    await scene.goTo(page, `/vault/${scene.vault.id}/policy`);
    await section.getByText('Co-signer 3').waitFor();
    const text = await section.innerText();
    expect(text).toContain('Reported by the server and not verified here');
    expect(text.match(/version 1 is in force/g)).toHaveLength(3);
    expect(text).not.toMatch(/unknown|disagrees/);

    // From here on the server omits one statement and changes another one.
    await page.route(/\/policy\?nonce=/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as PolicyAnswer;
      const statements = (body.statements ?? []).map((entry) => {
        if (entry.cosigner === 2) return { ...entry, statement: null, fault: 'unreachable' };
        return entry.cosigner === 3 ? { ...entry, statement: { ...entry.statement, policyVersion: 9 } } : entry;
      });
      await route.fulfill({ response, json: { ...body, statements } });
    });
    await page.reload();
    await section.getByText('unknown').waitFor();
    const changed = await section.innerText();
    expect(changed.match(/version 1 is in force/g)).toHaveLength(1);
    expect(changed).toMatch(/Co-signer 2.*unknown/);
    expect(changed).toMatch(/Co-signer 3.*disagrees: version 9 is in force/);
    expect(new Set(nonces).size).toBe(nonces.length);
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{64}$/);
    expect(complaints).toEqual([]);
  });
});
