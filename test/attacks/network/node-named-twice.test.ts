/**
 * Attack: an operator names one RPC node twice, by the same URL or by two URLs of one host. The
 *   node invents a payment and confirms itself, and the service records the payment.
 * Attacker: network
 * Co-signers: 0
 * Finding: O1
 * Defence: URLs of one host are refused, unless the operator states that their providers differ.
 *   The same URL is always refused.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';

afterEach(() => void vi.unstubAllGlobals());

const TXID = 'aa'.repeat(32);
const INVENTED = {
  txid: TXID,
  fee: 200,
  weight: 561,
  vin: [{ txid: 'cc'.repeat(32), vout: 0, prevout: { value: 100_000_000, scriptpubkey_address: 'bc1from' } }],
  vout: [{ value: 99_999_800, scriptpubkey_address: 'bc1to' }],
  status: { confirmed: true, block_height: 100, block_hash: 'b1'.repeat(32) },
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  'block-height/0': '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  'block-height/100': 'b1'.repeat(32),
  'blocks/tip/height': 110,
};

/** Returns `recorded` if the invented payment counts, or the fault of the setting. */
async function outcomeOf(entry: unknown): Promise<string> {
  vi.stubGlobal('fetch', async (url: string) => {
    const { host, pathname } = new URL(url);
    const path = pathname.replace(/^\/(key\/)?/, '');
    const isClaimed = path === `tx/${TXID}` && !host.startsWith('honest');
    const answer = isClaimed ? INVENTED : ANSWERS[path];
    if (answer === undefined) return new Response('Not found', { status: 404 });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  const bitcoin = findChain(chainsFrom({}), 'bitcoin');
  if (bitcoin === null) throw new Error('bitcoin is built in');
  try {
    const client = chainClientFor({ RPC_URLS: JSON.stringify({ bitcoin: entry }) }, bitcoin);
    const read = await client?.activity(TXID, null);
    return read?.ok === true && read.value !== null ? 'recorded' : 'not recorded';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('an honest second node keeps the invented payment out of the records', async () => {
  expect(await outcomeOf(['https://liar.example', 'https://honest.example'])).toBe('not recorded');
});

test.each([
  ['one URL twice', ['https://liar.example', 'https://liar.example'], 'the same URL twice'],
  ['a slash at the end', ['https://liar.example', 'https://liar.example/'], 'the same URL twice'],
  ['another port', ['https://liar.example', 'https://liar.example:8443'], 'two URLs of one host'],
  ['user info', ['https://liar.example/a', 'https://me:secret@liar.example/b'], 'two URLs of one host'],
  ['another key of one provider', ['https://liar.example/key', 'https://liar.example/'], 'two URLs of one host'],
  ['upper case and a final dot', ['https://liar.example', 'https://LIAR.example./x'], 'two URLs of one host'],
  ['one URL twice, as two providers', { urls: ['https://a.example', 'https://a.example'], providers: 2 }, 'twice'],
])('a node that is named twice by %s is refused', async (_name, entry, fault) => {
  const outcome = await outcomeOf(entry);
  expect(outcome).toContain(fault);
  expect(outcome).not.toContain('example');
});

test('an operator who knows better says so, and a wrong number is refused', async () => {
  const urls = ['https://liar.example', 'https://liar.example/key'];
  expect(await outcomeOf({ urls, providers: 2 })).toBe('recorded');
  for (const providers of [1, 3, '2', undefined]) {
    expect(await outcomeOf({ urls, providers })).toContain('the number of the URLs');
  }
});
