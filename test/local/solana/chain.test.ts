import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNoopSigner } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, expect, test } from 'vitest';
import { LocalSolanaChain } from '#local/solana/chain.ts';
import { mintTo, newToken } from '#local/solana/tokens.ts';
import { stranger } from '../../chains/solana/cast.ts';

const folder = await mkdtemp(join(tmpdir(), 'conclave-ledger-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the local chain continues after a restart with its accounts, history and tokens', () => {
  const before = new LocalSolanaChain();
  const [rich, poor] = [stranger(), stranger()];
  before.airdrop(rich, 5_000_000_000n);
  const mint = newToken(before);
  const minted = mintTo(before, mint, rich, 77n);
  before.save(folder);

  const after = new LocalSolanaChain(folder);
  const drawn = [new LocalSolanaChain(), before, after].map((chain) => chain.latestBlockhash().blockhash);
  expect(new Set(drawn).size).toBe(3);
  expect(after.account(rich)).toEqual(before.account(rich));
  expect(after.entry(minted)).toMatchObject({ slot: before.slot, error: null });
  expect(after.tokenAccounts(rich)).toEqual(before.tokenAccounts(rich));
  const pay = getTransferSolInstruction({ source: createNoopSigner(rich), destination: poor, amount: 1_000_000_000n });
  const { slot } = after.carryOut(rich, [pay]);
  expect(slot > before.slot).toBe(true);
  expect(after.account(poor)?.lamports).toBe(1_000_000_000n);
  expect(after.naming(rich)).toHaveLength(3);
});

test('a dropped transaction leaves no trace, and no fee is paid for it', () => {
  const chain = new LocalSolanaChain();
  const [rich, poor] = [stranger(), stranger()];
  chain.airdrop(rich, 1_000_000n);
  const tooMuch = getTransferSolInstruction({
    source: createNoopSigner(rich),
    destination: poor,
    amount: 5_000_000_000n,
  });
  expect(() => chain.carryOut(rich, [tooMuch])).toThrow('Custom');
  expect(() => chain.carryOut(poor, [tooMuch])).toThrow('dropped');
  expect(chain.account(poor)).toBeNull();
});
