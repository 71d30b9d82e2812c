import { expect, test } from 'vitest';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { LocalSolanaChain } from '#local/solana/chain.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { clientAt, attemptOf, payment, units, Wallet } from '../../chains/solana/cast.ts';

/**
 * Covers the local chain with the settings that make it behave like the public network, and the
 * service on that chain.
 */

const SOL = 1_000_000_000n;

async function onNetwork(story: (scene: Scene) => Promise<void>): Promise<void> {
  const node = await startSolanaNode();
  try {
    const wallet = new Wallet();
    node.chain.airdrop(wallet.address, 50n * SOL);
    await story({ chain: node.chain, url: node.url, wallet });
  } finally {
    await node.stop();
  }
}

interface Scene {
  readonly chain: LocalSolanaChain;
  readonly url: string;
  readonly wallet: Wallet;
}

interface Signed {
  readonly attempt: Attempt;
  readonly raw: string;
  readonly hash: string;
}

interface Options {
  readonly position?: bigint;
  readonly speed?: 'slow' | 'normal' | 'fast';
  readonly replaced?: Attempt;
}

async function signed({ url, wallet }: Scene, intent: TransferIntent, options: Options = {}): Promise<Signed> {
  const { position = 0n, speed = 'normal', replaced = null } = options;
  const client = clientAt(url);
  const quote = await client.quote(intent, replaced, { speed });
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const anchor = await client.anchor({ from: wallet.address, nonce: position, replaced });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const number = (replaced?.number ?? 0) + 1;
  const attempt = attemptOf(client.rules.compose(intent, quote.value, anchor.value), number);
  const assembled = client.rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return { attempt, ...assembled.value };
}

const send = ({ url }: Scene, { raw, hash }: Signed) => clientAt(url).broadcast(raw, hash);

async function observed({ url, wallet }: Scene, attempts: readonly Signed[]): Promise<Observation | string> {
  const newest = attempts.at(-1)?.attempt;
  if (newest === undefined) throw new Error('there is an attempt');
  const hashes = attempts.map(({ hash }) => hash);
  const watched: WatchedAttempts = { from: wallet.address, nonce: 0n, hashes, newest, inclusion: null };
  const seen = await clientAt(url).observe(watched);
  return seen.ok ? seen.value : seen.refusal.detail;
}

const pay = ({ wallet }: Scene) => payment(wallet.address, { amount: units(SOL) });

test('the leader executes transactions only when a slot comes, and includes the highest priority fees first', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    chain.leader = { perSlot: 1 };
    const slow = await signed(scene, pay(scene), { position: 0n, speed: 'slow' });
    const fast = await signed(scene, pay(scene), { position: 1n, speed: 'fast' });
    for (const one of [slow, fast]) expect(await send(scene, one)).toEqual({ outcome: 'accepted' });
    expect([chain.entry(slow.hash), chain.entry(fast.hash)]).toEqual([null, null]);
    chain.advance(1n);
    expect([chain.entry(slow.hash), chain.entry(fast.hash)?.error]).toEqual([null, null]);
    chain.advance(1n);
    expect(chain.entry(slow.hash)?.error).toBeNull();
  }));

test('a payment with a low fee expires with its blockhash in congestion, and a fast payment is included', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    chain.leader = { perSlot: 3, crowd: [400_000n, 400_000n, 400_000n] };
    // The fee estimate is older than all payments, so the payment is priced at its minimum and is
    // not included.
    const intent = pay(scene);
    const cheap = await signed(scene, intent);
    await send(scene, cheap);
    chain.advance(5n);
    expect(chain.entry(cheap.hash)).toBeNull();
    chain.advance(150n);
    expect(await observed(scene, [cheap])).toEqual({ type: 'lapsed' });
    const sent = { outcome: 'lapsed' as const, answer: '', atMs: 0, times: 1 };
    const again = await signed(scene, intent, { replaced: { ...cheap.attempt, sent }, speed: 'fast' });
    await send(scene, again);
    chain.advance(1n);
    expect(chain.entry(again.hash)?.error).toBeNull();
  }));

test('a transaction that was lost on the network is sent again as the same bytes, and paid once', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    let losses = 3;
    chain.leader = { perSlot: 10, isLost: () => losses-- > 0 };
    const intent = pay(scene);
    const one = await signed(scene, intent);
    for (let i = 0; i < 6; i++) {
      expect(await send(scene, one)).toEqual({ outcome: 'accepted' });
      chain.advance(1n);
      expect(chain.entry(one.hash) === null).toBe(i < 3);
    }
    const seen = await observed(scene, [one]);
    expect(seen).toMatchObject({ type: 'included', inclusion: { succeeded: true } });
    expect(chain.naming(intent.to as typeof scene.wallet.address)).toHaveLength(1);
  }));

test('an RPC node that forwards nothing for a long time does not raise the fee of a first payment, which is paid in the end', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    let isUnreachable = true;
    chain.leader = { perSlot: 10, isLost: () => isUnreachable };
    const intent = pay(scene);
    const attempts = [await signed(scene, intent)];
    for (let lapses = 0; lapses < 8; lapses++) {
      const newest = attempts.at(-1);
      if (newest === undefined) throw new Error('there is an attempt');
      expect(await send(scene, newest)).toEqual({ outcome: 'accepted' });
      chain.advance(151n);
      expect(await observed(scene, attempts)).toEqual({ type: 'lapsed' });
      const sent = { outcome: 'lapsed' as const, answer: '', atMs: 0, times: 1 };
      attempts.push(await signed(scene, intent, { replaced: { ...newest.attempt, sent } }));
    }
    const [first, last] = [attempts[0], attempts.at(-1)];
    if (first === undefined || last === undefined) throw new Error('there are attempts');
    expect(last.attempt.maxFee).toBe(first.attempt.maxFee);
    isUnreachable = false;
    await send(scene, last);
    chain.advance(1n);
    expect(await observed(scene, attempts)).toMatchObject({ type: 'included', inclusion: { succeeded: true } });
  }));

test('an RPC node with a leader also refuses a wrong signature', () =>
  onNetwork(async (scene) => {
    scene.chain.leader = { perSlot: 10 };
    const one = await signed(scene, pay(scene));
    const wire = Buffer.from(one.raw.slice(2), 'hex');
    wire[5] = (wire[5] ?? 0) ^ 1;
    expect(scene.chain.send(new Uint8Array(wire))).toBe('signature');
  }));

test('a durable nonce advances once per slot: the second payment with it in a slot is dropped', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    const first = await signed(scene, pay(scene));
    await send(scene, first);
    const intents = [pay(scene), pay(scene)];
    const both = [await signed(scene, intents[0] ?? pay(scene)), await signed(scene, intents[1] ?? pay(scene))];
    chain.leader = { perSlot: 10 };
    for (const one of both) await send(scene, one);
    chain.advance(1n);
    expect(both.map(({ hash }) => chain.entry(hash)).filter((entry) => entry?.error === null)).toHaveLength(1);
    expect(both.map(({ hash }) => chain.entry(hash)).filter((entry) => entry === null)).toHaveLength(1);
  }));

test('slots without a block do not expire a blockhash, and a confirmed block is not finalized', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    chain.finalityDepth = 32n;
    const one = await signed(scene, pay(scene));
    // Half of the 300 slots have a block, so the blockhash is still valid.
    for (let i = 0; i < 149; i++) {
      chain.advance(1n);
      chain.skip(1n);
    }
    expect(await observed(scene, [one])).toMatchObject({ type: 'absent', nonceTaken: false });
    await send(scene, one);
    const seen = await observed(scene, [one]);
    expect(seen).toMatchObject({ type: 'included', inclusion: { finalized: false } });
    chain.skip(40n);
    chain.advance(1n);
    expect(await observed(scene, [one])).toMatchObject({ inclusion: { finalized: true } });
  }));

test('a blockhash expires by the number of blocks after it, and only when all forks agree on them', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    chain.finalityDepth = 32n;
    const one = await signed(scene, pay(scene));
    chain.skip(500n);
    expect(await observed(scene, [one])).toMatchObject({ type: 'absent' });
    chain.advance(151n);
    expect(await observed(scene, [one])).toMatchObject({ type: 'absent' });
    chain.advance(32n);
    expect(await observed(scene, [one])).toEqual({ type: 'lapsed' });
  }));

test('an RPC node returns no block for a skipped slot', () =>
  onNetwork(async ({ chain, url }) => {
    chain.skip(3n);
    const request = async (slot: bigint) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[${slot}]}`;
      return (await fetch(url, { method: 'POST', body })).text();
    };
    expect(await request(chain.slot)).toContain('was skipped');
    expect(await request(chain.slot - 3n)).toContain('"blockhash"');
    expect(await request(chain.slot + 1n)).toContain('not available');
  }));

test('an RPC node without history does not make a payment fail', () =>
  onNetwork(async (scene) => {
    const { chain } = scene;
    const opening = await signed(scene, pay(scene));
    await send(scene, opening);
    const one = await signed(scene, pay(scene));
    await send(scene, one);
    chain.advance(400n);
    chain.historyFrom = chain.slot;
    expect(await observed(scene, [one])).toEqual({
      type: 'absent',
      inMempool: false,
      nonceTaken: false,
      isUnexplained: true,
    });
    chain.historyFrom = 0n;
    expect(await observed(scene, [one])).toMatchObject({ type: 'included', inclusion: { succeeded: true } });
  }));

test('attempts beyond the limit of one call are read in pages', () =>
  onNetwork(async (scene) => {
    const one = await signed(scene, pay(scene));
    await send(scene, one);
    const lost = Array.from({ length: 600 }, (_, i) => ({ ...one, hash: String(i).padStart(88, '1') }));
    expect(await observed(scene, [...lost, one])).toMatchObject({ type: 'included', inclusion: { hash: one.hash } });
    expect(await observed(scene, [one, ...lost])).toMatchObject({ type: 'included', inclusion: { hash: one.hash } });
  }));

test('an RPC node refuses a transaction above the packet size, and more signatures in one call than its limit', () =>
  onNetwork(async ({ url }) => {
    const request = async (method: string, params: readonly unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      return (await fetch(url, { method: 'POST', body })).text();
    };
    const large = Buffer.alloc(1_233).toString('base64');
    expect(await request('sendTransaction', [large, { encoding: 'base64' }])).toContain('too large');
    expect(await request('simulateTransaction', [large, { encoding: 'base64' }])).toContain('too large');
    expect(await request('getSignatureStatuses', [Array.from({ length: 257 }, () => '1'.repeat(88))])).toContain(
      'max 256',
    );
    expect(await request('getSignatureStatuses', [Array.from({ length: 256 }, () => '1'.repeat(88))])).toContain(
      'null',
    );
  }));
