import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, refusalOf, startWorld, taken } from '../world.ts';

/** Covers the largest fee that an estimate shows: it is what signers approve and what binds. */

let world: World;
let vault: ReadyVault;
let recipient: string;

const GWEI = 10n ** 9n;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  recipient = await world.chain.account(7);
});
afterEach(() => miner().setAutomine(true));
afterAll(() => world.end());

const miner = () => anvilClient(world.chainUrl);

async function mineAt(baseFeePerGas: bigint): Promise<void> {
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas });
  await miner().mine({ blocks: 1 });
}

const body = (differences: Partial<TransferBody> = {}): TransferBody => ({
  vaultId: vault.id,
  chain: 'anvil',
  to: recipient,
  amount: '1000',
  ...differences,
});

const estimate = () => unwrap(world.people().alice.client.api.transaction['estimate-fee'].$post({ json: body() }));

const within = ({ attempts, maxFee }: TransactionRecord) =>
  attempts.every((attempt) => BigInt(attempt.maxFee) <= BigInt(maxFee ?? '0'));

test.each(['slow', 'normal', 'fast'] as const)(
  'the suggested maxFee at speed %s is what signers approve, and it bounds what is paid',
  async (speed) => {
    const { alice } = world.people();
    const { expectedFee, maxFee: now, suggestedMaxFee: shown } = (await estimate())[speed];
    expect([BigInt(expectedFee) <= BigInt(now), BigInt(shown)]).toEqual([true, 3n * BigInt(now)]);
    const { id, maxFee } = await alice.client.transfer(body({ speed, maxFee: shown }));
    const challenge = await alice.client.request<{ intent: { maxFee: string } }>('GET', `/transaction/${id}/challenge`);
    expect([maxFee, challenge.body.intent.maxFee]).toEqual([shown, shown]);
    await world.approve(id);
    const done = await finished(alice, id);
    expect([done.state, within(done)]).toEqual(['SUCCEEDED', true]);
    expect(BigInt(done.feePaid ?? '0') <= BigInt(shown)).toBe(true);
  },
);

test('the suggestion is at most the fee cap, where the price is above it', async () => {
  await mineAt(10n ** 15n);
  const { normal } = await estimate();
  expect([normal.suggestedMaxFee, BigInt(normal.maxFee) > 5n * 10n ** 16n]).toEqual(['50000000000000000', true]);
  // A larger one cannot be named, so the payment waits as one without a maxFee.
  const created = await world.people().alice.client.transfer(body({ maxFee: normal.suggestedMaxFee }));
  expect(created.state).toBe('SUBMITTED');
  await mineAt(GWEI);
});

test('a maxFee below the current fee is refused with the fee, and nothing is stored', async () => {
  const { alice } = world.people();
  const { normal } = await estimate();
  const low = (BigInt(normal.maxFee) - 1n).toString();
  expect(await refusalOf(alice, 'transfer', { ...body({ maxFee: low }) })).toEqual([422, 'max-fee-too-low']);
  const answer = await alice.client.request<{ errors: readonly { pointer: string; detail: string }[] }>(
    'POST',
    '/transaction/transfer',
    { body: body({ maxFee: low }) },
  );
  expect(answer.body.errors).toMatchObject([{ pointer: '/maxFee' }]);
  expect(answer.body.errors[0]?.detail).toContain(normal.maxFee);
  expect((await alice.client.transfer(body({ maxFee: normal.maxFee }))).maxFee).toBe(normal.maxFee);
});

test('a payment waits while the price is above its maxFee, states why, and goes through afterwards', async () => {
  const { alice } = world.people();
  const { normal } = await estimate();
  const { id } = await alice.client.transfer(body({ maxFee: normal.suggestedMaxFee }));
  await mineAt(40n * GWEI);
  await world.approve(id);
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_ABOVE_CAP');
  expect([waiting.state, waiting.attempts, waiting.maxFee]).toEqual(['SIGNING', [], normal.suggestedMaxFee]);
  await mineAt(GWEI / 10n);
  const done = await finished(alice, id);
  expect([done.state, within(done)]).toEqual(['SUCCEEDED', true]);
});

test.each(['speed-up', 'cancel'])(
  '%s signs nothing above the maxFee, and the payment stays in flight',
  async (command) => {
    const { alice } = world.people();
    await miner().setAutomine(false);
    const { normal } = await estimate();
    const id = await world.approved(body({ maxFee: normal.maxFee }));
    await taken(alice, id);
    expect((await alice.client.request('POST', `/transaction/${id}/${command}`)).status).toBe(200);
    const given = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_CAP_EXCEEDED');
    expect([given.state, given.attempts.length, within(given)]).toEqual(['BROADCAST', 1, true]);
    await miner().mine({ blocks: 1 });
    await miner().setAutomine(true);
    expect((await finished(alice, id)).state).toBe('SUCCEEDED');
  },
);

test('the suggested maxFee leaves room for speed-ups, which stay within it', async () => {
  const { alice } = world.people();
  await miner().setAutomine(false);
  const { normal } = await estimate();
  const id = await world.approved(body({ maxFee: normal.suggestedMaxFee }));
  for (const attempts of [1, 2, 3]) {
    if (attempts > 1) await alice.client.request('POST', `/transaction/${id}/speed-up`);
    await reaches(alice, id, (record) => record.attempts[attempts - 1]?.outcome === 'accepted');
  }
  await miner().mine({ blocks: 1 });
  await miner().setAutomine(true);
  const done = await finished(alice, id);
  expect([done.state, done.attempts.length, within(done)]).toEqual(['SUCCEEDED', 3, true]);
});
