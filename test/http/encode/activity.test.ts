import { expect, test } from 'vitest';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Activity } from '#domain/activity/activity.ts';
import { newActivity, shown } from '#domain/activity/activity.ts';
import { newTransactionId } from '#domain/id.ts';
import { activityRecord } from '#http/encode/activity.ts';
import { alice, amount, NO_COUNTERPARTIES, NOON_MS, policy, vaultId } from '../../domain/cast.ts';
import { present } from '../../chains/evm/cast.ts';

/** Covers what an answer has of a record that is shown in part. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const MEME = '0x4444444444444444444444444444444444444444';
const chain = present(findChain(chainsFrom({}), 'anvil'));
const book = [{ chain: chain.caip2, address: MEME, name: 'Bob' }];
const scope = {
  policy: { ...policy, rules: { ...policy.rules, addressBook: book } },
  chain,
  viewer: { userId: alice.userId, roles: ['signer'] },
} as const;

function received(): Activity {
  const moved = { from: BOB, to: WALLET, tokenId: null } as const;
  const price = { state: 'known', usdE12: '2500000000000000', atMs: NOON_MS } as const;
  const facts = { symbol: 'VISIT', decimals: 6, isListed: false, imitates: null, hasPhishingText: true };
  const activity = newActivity(
    { id: newTransactionId(vaultId, NOON_MS, new Uint8Array(10)), vaultId, wallet: WALLET },
    {
      chain,
      nowMs: NOON_MS,
      acquaintance: NO_COUNTERPARTIES,
      valuation: {
        native: { price, decimals: 18 },
        tokens: [{ ...facts, address: MEME, price: { state: 'unknown' } }],
      },
      seen: {
        hash: '0xaa',
        signer: BOB,
        fee: amount('1'),
        block: { number: '7', hash: '0xb7', confirmations: 1, isFinal: false },
        movements: [
          { ...moved, uid: 'top', kind: 'native', tokenAddress: null, amount: amount('1000000000000000000') },
          { ...moved, uid: 'log:1', kind: 'erc20', from: MEME, tokenAddress: MEME, amount: amount('7') },
        ],
      },
    },
  );
  return present(activity);
}

test('an answer has the hidden assets in one field, and no name or amount of them elsewhere', () => {
  const { hiddenChanges, ...rest } = activityRecord(received(), scope);
  expect(rest).toMatchObject({
    visible: true,
    from: BOB,
    amount: '1000000000000000000',
    movementCount: 1,
    usdValue: '2500.00',
    knownAs: [],
  });
  expect(JSON.stringify(rest)).not.toMatch(new RegExp(`VISIT|${MEME}`));
  const asset = { tokenAddress: MEME, symbol: 'VISIT', decimals: 6, trust: 'unlisted', imitates: null };
  expect(hiddenChanges).toEqual([{ asset, tokenId: null, amount: '7', hiddenReason: 'BAIT' }]);
});

test('an answer has every asset of a record that a member chose to show', () => {
  const record = activityRecord(shown({ ...received(), visibilityChoice: true }), scope);
  expect([record.balanceChanges.length, record.movementCount, record.usdValue, record.hiddenChanges]).toEqual([
    2,
    2,
    null,
    [],
  ]);
});
