import { verify } from 'node:crypto';
import type { Address } from '@solana/kit';
import { getBase58Encoder } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { derivedAddress, isPublicKey } from '#chains/solana/rules/address.ts';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { LocalSolanaChain } from '#local/solana/chain.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { feeExtension, mintTo, newToken, newToken2022 } from '#local/solana/tokens.ts';
import { stranger } from '../../chains/solana/cast.ts';
import { ed25519Key } from '../../mpc/ed25519-key.ts';
import type { Gate } from '../rpc-proxy.ts';
import { startGate } from '../rpc-proxy.ts';
import type { World } from '../world.ts';
import { finished, reaches, refusalOf, startWorld } from '../world.ts';

/**
 * Covers a vault on Solana over the public API, with the same calls as on every chain, against the
 * real virtual machine.
 */

const SOL = 1_000_000_000n;
const CHAIN = 'solana-local';

let node: SolanaNode;
let gate: Gate;
let world: World;
let vault: ReadyVault;
let wallet: Address;
let localChain: LocalSolanaChain;

beforeAll(async () => {
  node = await startSolanaNode();
  localChain = node.chain;
  gate = await startGate(node.url);
  world = await startWorld({ solanaUrl: gate.url });
  vault = await world.vault('treasury', { chains: [CHAIN] });
  const address = vault.addresses[CHAIN] ?? '';
  if (!isPublicKey(address)) throw new Error('the wallet has an address');
  wallet = address;
  localChain.airdrop(wallet, 100n * SOL);
});
afterAll(async () => {
  await world.end();
  await gate.stop();
  await node.stop();
});

const balance = (of: Address) => localChain.account(of)?.lamports ?? 0n;

function payment(to: Address, differences: Partial<TransferBody> = {}): TransferBody {
  return { vaultId: vault.id, chain: CHAIN, to, amount: SOL.toString(), ...differences };
}

const approved = (body: TransferBody) => world.approved(body);

const done = (id: string) => finished(world.people().alice, id);

test('two approvals run a transfer, and its record has the same fields as on every chain', async () => {
  const to = stranger();
  const record = await done(await approved(payment(to, { note: 'for the server' })));
  expect([record.state, record.displayType, record.direction, record.finality]).toEqual([
    'SUCCEEDED',
    'SENT',
    'out',
    'finalized',
  ]);
  expect(balance(to)).toBe(SOL);
  expect([record.from, record.to, record.amount, record.asset?.symbol, record.asset?.decimals]).toEqual([
    wallet,
    to,
    SOL.toString(),
    'SOL',
    9,
  ]);
  expect(localChain.entry(record.txHash ?? '')?.error).toBeNull();
  expect(BigInt(record.feePaid ?? '0')).toBeGreaterThanOrEqual(5_000n);
});

test('approvals may arrive at any time, because the lifetime of a blockhash starts with the signing', async () => {
  const { alice, bob } = world.people();
  const to = stranger();
  const { id } = await alice.client.transfer(payment(to));
  await alice.client.approve(id);
  localChain.advance(10_000n);
  await bob.client.approve(id);
  expect((await done(id)).state).toBe('SUCCEEDED');
  expect(balance(to)).toBe(SOL);
});

test('tokens arrive at a wallet that never had any, and the estimate includes the cost of its account', async () => {
  const { alice } = world.people();
  const mint = newToken(localChain);
  mintTo(localChain, mint, wallet, 5_000_000n);
  const to = stranger();
  const body = payment(to, { tokenAddress: mint, amount: '1500000' });
  const { vaultId, chain, amount, tokenAddress } = body;
  const estimate = await alice.client.request<{
    accountRent: string;
    normal: { maxFee: string; suggestedMaxFee: string };
  }>('POST', '/transaction/estimate-fee', { body: { vaultId, chain, to, amount, tokenAddress } });
  expect([estimate.status, estimate.body.accountRent]).toEqual([200, '2039280']);
  const { maxFee: now, suggestedMaxFee: maxFee } = estimate.body.normal;
  expect(BigInt(maxFee)).toBe(3n * BigInt(now));
  // The rent of the account of the recipient is part of the fee.
  expect(await refusalOf(alice, 'transfer', { ...body, maxFee: '2039280' })).toEqual([422, 'max-fee-too-low']);
  const record = await done(await approved({ ...body, maxFee }));
  expect([record.state, record.maxFee]).toEqual(['SUCCEEDED', maxFee]);
  expect(record.attempts.every((attempt) => BigInt(attempt.maxFee) <= BigInt(maxFee))).toBe(true);
  const again = await alice.client.request<{ accountRent: string }>('POST', '/transaction/estimate-fee', {
    body: { vaultId, chain, to, amount, tokenAddress },
  });
  expect(again.body.accountRent).toBe('0');
});

test('a memo is shown to the signers and written into the chain', async () => {
  const { alice } = world.people();
  const to = stranger();
  const id = await approved(payment(to, { memo: '104729' }));
  const record = await done(id);
  expect([record.state, record.memo]).toEqual(['SUCCEEDED', '104729']);
  expect(localChain.entry(record.txHash ?? '')?.logs.join()).toContain('104729');
  const unreadable = await alice.client.request<{ errors: readonly { code: string }[] }>(
    'POST',
    '/transaction/transfer',
    {
      body: payment(to, { memo: 'a\u202Eb' }),
    },
  );
  expect([unreadable.status, unreadable.body.errors[0]?.code]).toEqual([400, 'invalid-memo']);
});

test('a payment to the address of a program requires an acknowledgement, and warns the signers', async () => {
  const { alice } = world.people();
  const to = derivedAddress([Buffer.from('vault')], stranger());
  const refused = await alice.client.request<{ errors: readonly { code: string }[] }>('POST', '/transaction/transfer', {
    body: payment(to),
  });
  expect([refused.status, refused.body.errors[0]?.code]).toEqual([400, 'off-curve']);
  const id = await approved(payment(to, { recipientMayHaveNoKey: true }));
  const record = await done(id);
  expect([record.state, record.warnings.map(({ code }) => code)]).toEqual(['SUCCEEDED', ['recipient-may-have-no-key']]);
  expect(balance(to)).toBe(SOL);
  // For an ordinary address the acknowledgement is not stored, and causes no warning.
  const { warnings } = await alice.client.transfer(payment(stranger(), { recipientMayHaveNoKey: true }));
  expect(warnings).toEqual([]);
});

test('a message is signed for the wallet and ends without a transaction', async () => {
  const { alice, bob } = world.people();
  const sent = localChain.naming(wallet).length;
  const created = await alice.client.request<TransactionRecord>('POST', '/transaction/message', {
    body: { vaultId: vault.id, chain: CHAIN, message: 'Sign in to example.com' },
  });
  expect(created.status).toBe(201);
  const { id } = created.body;
  await alice.client.approve(id);
  await bob.client.approve(id);
  const record = await done(id);
  expect([record.state, record.displayType, record.txHash, record.messageFormat]).toEqual([
    'SUCCEEDED',
    'MESSAGE',
    null,
    'solana-offchain',
  ]);
  const encoder = getBase58Encoder();
  const key = ed25519Key(Uint8Array.from(encoder.encode(wallet)));
  // The message has the domain, version 1, one signer, and then the text.
  const header = Buffer.from([0xff, ...Buffer.from('solana offchain'), 1, 1]);
  const bytes = Buffer.concat([header, Buffer.from(encoder.encode(wallet)), Buffer.from('Sign in to example.com')]);
  expect(verify(null, bytes, key, Buffer.from(encoder.encode(record.signature ?? '')))).toBe(true);
  expect(localChain.naming(wallet).length).toBe(sent);
});

test('one rejection ends a transfer, and nothing is ever sent', async () => {
  const { alice, bob } = world.people();
  const sent = localChain.naming(wallet).length;
  const { id } = await alice.client.transfer(payment(stranger()));
  await alice.client.approve(id);
  await bob.client.reject(id);
  expect([(await done(id)).state, localChain.naming(wallet).length]).toEqual(['REJECTED', sent]);
});

test.each<[string, string, object, number, string]>([
  [
    'an allowance of ERC-20',
    'erc20-approve',
    { tokenAddress: stranger(), spender: stranger(), amount: '1' },
    422,
    'not-on-this-chain',
  ],
  ['calldata', 'contract-interaction', { to: stranger(), data: '0x00', value: '0' }, 422, 'not-on-this-chain'],
  [
    'an address of Ethereum',
    'transfer',
    { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', amount: '1' },
    400,
    'invalid-request',
  ],
  ['more than there is', 'transfer', { to: stranger(), amount: (1_000n * SOL).toString() }, 422, 'insufficient-funds'],
  ['too little for a new account', 'transfer', { to: stranger(), amount: '1000' }, 422, 'would-revert'],
  [
    'a token that there is not',
    'transfer',
    { to: stranger(), amount: '1', tokenAddress: stranger() },
    422,
    'would-revert',
  ],
])(
  'a transfer of %s is refused with a clear problem, and nothing is stored',
  async (_name, kind, body, status, code) => {
    const refused = await refusalOf(world.people().alice, kind, { vaultId: vault.id, chain: CHAIN, ...body });
    expect(refused).toEqual([status, code]);
  },
);

test('a payment of Token-2022 is made with the fee that signers approve, and no other fee', async () => {
  const { alice } = world.people();
  const mint = newToken2022(localChain, { 1: feeExtension(100) });
  mintTo(localChain, mint, wallet, 5_000n);
  const to = stranger();
  const body = payment(to, { tokenAddress: mint, amount: '1000' });
  expect(await refusalOf(alice, 'transfer', body)).toEqual([422, 'would-revert']);
  const estimate = await alice.client.request<{ tokenFee: string }>('POST', '/transaction/estimate-fee', { body });
  expect(estimate.body.tokenFee).toBe('10');
  const id = await approved({ ...body, maxTokenFee: '10' });
  const record = await done(id);
  expect([record.state, record.maxTokenFee, record.warnings.map(({ code }) => code)]).toEqual([
    'SUCCEEDED',
    '10',
    ['token-withholds-fee'],
  ]);
  const ofToken = record.movements.filter(({ asset }) => asset.tokenAddress === mint);
  expect(ofToken.map(({ to: receiver, amount }) => [receiver, amount])).toEqual([
    [to, '990'],
    [null, '10'],
  ]);
  const native = await refusalOf(alice, 'transfer', payment(to, { maxTokenFee: '1' }));
  expect(native).toEqual([400, 'invalid-request']);
});

test('a payment to a program or a mint, or of a token with a hook, is refused with the reason', async () => {
  const { alice } = world.people();
  const mint = newToken(localChain);
  const newer = newToken2022(localChain, { 14: new Uint8Array(64).fill(1) });
  const request = async (body: TransferBody) =>
    (await alice.client.request<{ detail: string }>('POST', '/transaction/transfer', { body })).body.detail;
  expect(await request(payment('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address))).toMatch(
    /program|not a wallet/,
  );
  expect(await request(payment(mint))).toMatch(/not a wallet|derived/);
  expect(await request(payment(stranger(), { tokenAddress: newer, amount: '1' }))).toContain('calls a transfer hook');
});

test('bytes that did not arrive before their blockhash expired are signed again, and pay once', async () => {
  const fresh = await world.vault('second', { chains: [CHAIN] });
  const from = fresh.addresses[CHAIN] as Address;
  localChain.airdrop(from, 10n * SOL);
  const { alice, bob } = world.people();
  const to = stranger();
  const { id } = await alice.client.transfer(payment(to, { vaultId: fresh.id }));
  await alice.client.approve(id);
  const held = gate.hold('sendTransaction');
  await bob.client.approve(id);
  const call = await held;
  localChain.advance(151n);
  // The leader drops the bytes, because their blockhash is too old by now.
  await call.deliver();
  const record = await done(id);
  expect([record.state, record.attempts.length, balance(to)]).toEqual(['SUCCEEDED', 2, SOL]);
  expect(new Set(record.attempts.map(({ nonce }) => nonce)).size).toBe(1);
});

test('a crash between signature and broadcast leads to the same bytes, whether they were broadcast or not', async () => {
  for (const delivered of [true, false]) {
    const { alice, bob } = world.people();
    const to = stranger();
    const { id } = await alice.client.transfer(payment(to));
    await alice.client.approve(id);
    const held = gate.hold('sendTransaction');
    await bob.client.approve(id);
    const call = await held;
    await world.stack().kill();
    if (delivered) await call.deliverSilently();
    await world.restart();
    const record = await finished(world.people().alice, id);
    expect([record.state, record.attempts.length, balance(to)]).toEqual(['SUCCEEDED', 1, SOL]);
  }
});

test('payments beyond the number of nonce slots of the wallet are all made, each once', async () => {
  const recipients = Array.from({ length: 20 }, stranger);
  const before = balance(wallet);
  const ids = await Promise.all(recipients.map((to) => approved(payment(to))));
  for (const id of ids) expect((await done(id)).state).toBe('SUCCEEDED');
  expect(recipients.map(balance)).toEqual(recipients.map(() => SOL));
  expect(before - balance(wallet)).toBeGreaterThan(20n * SOL);
});

test('a waiting payment can be sped up, or cancelled, and at most one attempt is ever executed', async () => {
  const { alice } = world.people();
  const [kept, undone] = [stranger(), stranger()];
  for (const [to, action] of [
    [kept, 'speed-up'],
    [undone, 'cancel'],
  ] as const) {
    const json = { vaultId: vault.id, chain: CHAIN, to, amount: SOL.toString() };
    const { normal } = await unwrap(alice.client.api.transaction['estimate-fee'].$post({ json }));
    const held = gate.hold('sendTransaction');
    const id = await approved(payment(to, { maxFee: normal.suggestedMaxFee }));
    const call = await held;
    // The RPC node accepts the bytes and never forwards them.
    call.pretend(await signatureOf(alice, id));
    await reaches(alice, id, ({ attempts }) => attempts[0]?.outcome === 'accepted');
    const request = await alice.client.request('POST', `/transaction/${id}/${action}`);
    expect(request.status).toBe(200);
    const record = await done(id);
    expect(record.state).toBe(action === 'cancel' ? 'CANCELLED' : 'SUCCEEDED');
    const fees = record.attempts.map(({ maxFee }) => BigInt(maxFee));
    expect([record.maxFee, fees.every((fee) => fee <= BigInt(normal.suggestedMaxFee))]).toEqual([
      normal.suggestedMaxFee,
      true,
    ]);
  }
  expect([balance(kept), balance(undone)]).toEqual([SOL, 0n]);
});

test('a transaction that is mined while a speed-up is pending succeeds, and no further attempt is signed', async () => {
  const { alice } = world.people();
  const to = stranger();
  const sending = gate.hold('sendTransaction');
  const id = await approved(payment(to));
  (await sending).pretend(await signatureOf(alice, id));
  await reaches(alice, id, ({ attempts }) => attempts[0]?.outcome === 'accepted');
  const [wire = ''] = gate.said
    .flatMap((text): string[] => (text.includes('sendTransaction') ? JSON.parse(text).params : []))
    .slice(-2);
  // The service requests the price of a faster attempt before the nonce of that attempt.
  const pricing = gate.hold('getRecentPrioritizationFees');
  expect((await alice.client.request('POST', `/transaction/${id}/speed-up`)).status).toBe(200);
  const call = await pricing;
  localChain.send(new Uint8Array(Buffer.from(wire, 'base64')));
  await call.deliver();
  const record = await done(id);
  expect([record.state, record.attempts.length, balance(to)]).toEqual(['SUCCEEDED', 1, SOL]);
});

async function signatureOf({ client }: ReturnType<World['people']>['alice'], id: string): Promise<string> {
  const { attempts } = await client.read(id);
  return attempts.at(-1)?.hash ?? '';
}
