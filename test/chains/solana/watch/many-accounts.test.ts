import { getAddressDecoder, getAddressEncoder, address } from '@solana/kit';
import { afterAll, expect, test } from 'vitest';
import { NATIVE } from '#domain/asset/movement.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import type { Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { unitsIn } from '../../readings.ts';
import { clientAt } from '../cast.ts';

/**
 * Covers a wallet for which strangers opened token accounts: each costs them the rent of one
 * account, and a node lists them in its own order.
 */

const WALLET = '3U1ABxvPQVeVm6UadTXmXn8QBh1VTuaKxSQ6zqBrfni4';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SLOT = 400_000_000;
const PAID = '5NuhsPWqKo6N3QJjvmEXK4kAZ7kEVkuHBuVGfs5FTDUEHSXf379GmUcQADe7awbDfo6nZKq1dfAwYoF8aAEKPPgA';

const node = await startSolanaNode();
const liar = await startFalseNode(node.url);
afterAll(async () => {
  await liar.stop();
  await node.stop();
});

/** Returns the bytes of a different address for each number. */
function bytesOf(number: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(7);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

const addressOf = (number: number) => getAddressDecoder().decode(bytesOf(number));
const [USDC_BYTES, WALLET_BYTES] = [USDC, WALLET].map((text) => getAddressEncoder().encode(address(text)));

function accountOf(mint: ArrayLike<number>, units: bigint): Buffer {
  const data = Buffer.alloc(165);
  data.set(mint, 0);
  data.set(WALLET_BYTES ?? [], 32);
  data.writeBigUInt64LE(units, 64);
  data[108] = 1;
  return data;
}

/** Serves a wallet with so many accounts of worthless tokens, and that of USDC as the last one. */
function serve(junk: number) {
  const scanned: string[] = [];
  const contents = Array.from({ length: junk }, (_, i) => accountOf(bytesOf(1_000_000 + i), 1n));
  contents.push(accountOf(USDC_BYTES ?? [], 250_000_000n));
  const rows = contents.map((content, i) => ({ pubkey: addressOf(i), content }));
  const usdcAccount = addressOf(junk);
  const account = { lamports: 2_039_280, owner: TOKEN, executable: false, rentEpoch: 0 };
  const rowsOf = (length: number) =>
    rows.map(({ pubkey, content }) => {
      const data = [Buffer.from(content.subarray(0, length)).toString('base64'), 'base64'];
      return { pubkey, account: { ...account, data, space: 165 } };
    });
  const mint = Buffer.from([...new Uint8Array(44), 6, 1, ...new Uint8Array(36)]).toString('base64');
  const at = (value: unknown): Rule => ({ result: { context: { slot: SLOT }, value } });
  liar.follow((method, params) => {
    if (method === 'getSlot') return { result: SLOT };
    if (method === 'getSignaturesForAddress') {
      scanned.push(String(params[0]));
      const isPaid = params[0] === usdcAccount;
      return { result: isPaid ? [{ signature: PAID, slot: SLOT - 100, err: null }] : [] };
    }
    if (method === 'getMultipleAccounts') {
      const [addresses] = params as readonly [readonly string[]];
      return at(addresses.map((one) => (one === USDC ? { ...account, data: [mint, 'base64'] } : null)));
    }
    if (method !== 'getTokenAccountsByOwner') return 'forward';
    const [, { programId }, { dataSlice }] = params as readonly [
      string,
      { readonly programId: string },
      { readonly dataSlice: { readonly length: number } },
    ];
    return at(programId === TOKEN ? rowsOf(dataSlice.length) : []);
  });
  return { client: clientAt(liar.url), scanned };
}

test.each([60, 12_000])(
  'the payment of a listed or compared token is found behind %i worthless accounts',
  async (junk) => {
    const { client, scanned } = serve(junk);
    const found = await client.scan(WALLET, null, { tokens: [USDC] });
    expect(found).toMatchObject({ ok: true, value: { hashes: [PAID] } });
    expect(scanned[1]).toBe(addressOf(junk));
    expect(scanned.length).toBeLessThanOrEqual(101);
  },
);

test('a scan that leaves out accounts states that no tokens were scanned', async () => {
  const few = await serve(99).client.scan(WALLET, null);
  const many = await serve(100).client.scan(WALLET, null);
  const to = String(SLOT);
  const whole = { fromBlock: String(SLOT - 216_000), toBlock: to };
  expect(few.ok && [few.value.hashes, few.value.tokens]).toEqual([[PAID], whole]);
  expect(many.ok && [many.value.hashes, many.value.tokens]).toEqual([[], { fromBlock: String(SLOT + 1), toBlock: to }]);
  expect(many.ok && many.value.payments).toEqual(whole);
});

test('the balances of a wallet with 12,000 token accounts are read', async () => {
  const { client } = serve(12_000);
  const usdc = { kind: 'spl', tokenAddress: USDC, tokenId: null } as const;
  const held = await client.holdings(WALLET, [usdc, NATIVE], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['250000000', '0']);
});
