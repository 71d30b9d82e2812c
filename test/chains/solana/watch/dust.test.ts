import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getBase58Decoder } from '@solana/kit';
import { afterAll, expect, test } from 'vitest';
import { DAILY_LIMITS } from '#domain/activity/daily-limit.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { UNPRICED } from '../../../domain/cast.ts';
import { newVaultScene } from '../../../objects/vault/vault-scene.ts';
import { present } from '../../evm/cast.ts';
import { startFalseNode } from '../../false-node.ts';
import { clientAt } from '../cast.ts';

/**
 * Covers payments of one lamport, which strangers send in thousands: each is hidden, their records
 * of a day are limited, and the ledger has the sum of all of them.
 */

const CHAIN = 'solana-local';
const WALLET = '3U1ABxvPQVeVm6UadTXmXn8QBh1VTuaKxSQ6zqBrfni4';
const PAYMENTS = 300;

const { getTransaction: dust }: { readonly getTransaction: { readonly slot: number; readonly transaction: object } } =
  JSON.parse(readFileSync(join(import.meta.dirname, '../vectors/dust.json'), 'utf8'));

const node = await startSolanaNode();
const liar = await startFalseNode(node.url);
afterAll(async () => {
  await liar.stop();
  await node.stop();
});

test('300 payments of one lamport are hidden, 200 of them have records, and the ledger has all', async () => {
  const at = (value: unknown) => ({ result: { context: { slot: dust.slot }, value } });
  liar.follow((method, [subject]) => {
    if (method === 'getSignatureStatuses')
      return at([{ slot: dust.slot, confirmations: null, err: null, confirmationStatus: 'finalized' }]);
    if (method === 'getTransaction')
      return { result: { ...dust, transaction: { ...dust.transaction, signatures: [subject] } } };
    if (method === 'getBlock') return { result: { blockhash: WALLET } };
    return method === 'getSlot' ? { result: dust.slot } : 'forward';
  });
  const { storage, host } = newVaultScene();
  const vault = present(host.vault());
  host.replaceVault({ ...vault, keys: [{ ...present(vault.keys[0]), addresses: { [CHAIN]: WALLET } }] });
  const client = clientAt(liar.url);
  for (let i = 0; i < PAYMENTS; i++) {
    const signature = new Uint8Array(64).fill(7);
    new DataView(signature.buffer).setUint32(0, i + 1);
    const hash = getBase58Decoder().decode(signature);
    const seen = await client.activity(hash, null);
    if (!seen.ok) throw new Error(seen.refusal.detail);
    await recordActivity(host, { chain: CHAIN, hash, seen: seen.value, valuation: UNPRICED });
  }
  const records = storage.activities.newest(PAYMENTS).flatMap((id) => storage.activities.read(id) ?? []);
  const listed = records.filter(({ isOmitted }) => isOmitted !== true);
  expect(listed.length).toBe(DAILY_LIMITS.hidden);
  expect(listed.every(({ visible, hiddenReason }) => !visible && hiddenReason === 'LOW_VALUE')).toBe(true);
  expect(storage.balances.balance({ chain: CHAIN, ...NATIVE })?.final).toBe(String(PAYMENTS));
});
