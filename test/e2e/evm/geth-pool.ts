import type { Address, Hex } from 'viem';
import { keccak256, numberToHex, parseTransaction, recoverTransactionAddress } from 'viem';
import { anvilClient } from '../../chains/evm/anvil-client.ts';

/**
 * The mempool rules of geth that the proxy applies in front of anvil, whose own mempool has other
 * rules.
 */
export interface PoolRules {
  /** The minimum tip in wei per gas. If absent, there is no minimum. */
  readonly minTip?: bigint;
  /**
   * The pool keeps a bid below the base fee until the base fee falls. Anvil itself refuses such a
   * bid, and drops waiting ones.
   */
  readonly keepsBelowBaseFee?: true;
  /**
   * The balance has to cover all waiting transactions of the account together. Anvil checks each of
   * them alone.
   */
  readonly coversQueue?: true;
  /** EIP-7825: a transaction may use 2^24 gas at most. */
  readonly capsGas?: true;
}

type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

/**
 * The handler for `Gate.falsify`. Returns the response of geth if it differs from the response of
 * anvil, else undefined.
 */
export type GethPool = (method: string, params: readonly unknown[]) => Promise<Answer | undefined>;

interface Pooled {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly from: Address;
  readonly to: Address;
  readonly nonce: number;
  readonly gas: bigint;
  readonly value: bigint;
  readonly data: Hex;
  readonly tip: bigint;
  readonly maxFeePerGas: bigint;
}

const MAX_GAS = 2n ** 24n;
const refusal = (message: string): Answer => ({ error: { code: -32_000, message } });
const costOf = ({ gas, maxFeePerGas, value }: Pooled) => gas * maxFeePerGas + value;

/** Returns a simulation of geth's mempool in front of anvil, with the error texts of geth. */
export function gethPool(nodeUrl: string, rules: PoolRules): GethPool {
  const node = anvilClient(nodeUrl);
  const pool = new Map<Hex, Pooled>();
  const baseFee = async () => (await node.getBlock()).baseFeePerGas ?? 0n;
  const minedOf = (address: Address) => node.getTransactionCount({ address });
  const isKnown = (hash: Hex) =>
    node.getTransaction({ hash }).then(
      () => true,
      () => false,
    );

  /** Removes mined and skipped transactions, and passes to anvil those that anvil accepts now. */
  const settle = async () => {
    const base = pool.size === 0 ? 0n : await baseFee();
    for (const one of [...pool.values()].toSorted((a, b) => a.nonce - b.nonce)) {
      if (one.nonce < (await minedOf(one.from))) pool.delete(one.hash);
      else if (one.maxFeePerGas >= base && !(await isKnown(one.hash))) {
        await node.sendRawTransaction({ serializedTransaction: one.raw });
      }
    }
  };

  const send = async (raw: Hex): Promise<Answer | undefined> => {
    const sent = await pooledFrom(raw);
    const others = [...pool.values()].filter(({ from, nonce }) => from === sent.from && nonce !== sent.nonce);
    const before = [...pool.values()].find(({ from, nonce }) => from === sent.from && nonce === sent.nonce);
    if (before?.hash === sent.hash) return refusal('already known');
    if (rules.capsGas === true && sent.gas > MAX_GAS) {
      return refusal(`transaction gas limit too high (cap: ${MAX_GAS}, tx: ${sent.gas})`);
    }
    const { minTip = 0n } = rules;
    if (sent.tip < minTip) {
      return refusal(`transaction underpriced: gas tip cap ${sent.tip}, minimum needed ${minTip}`);
    }
    if (before !== undefined && !isBump(sent, before)) return refusal('replacement transaction underpriced');
    const [balance, cost] = [await node.getBalance({ address: sent.from }), costOf(sent)];
    const queued = others.reduce((sum, one) => sum + costOf(one), 0n);
    if (rules.coversQueue === true && balance < queued + cost) {
      const overshot = queued + cost - balance;
      const words = `balance ${balance}, queued cost ${queued}, tx cost ${cost}, overshot ${overshot}`;
      return refusal(`insufficient funds for gas * price + value: ${words}`);
    }
    if (before !== undefined) pool.delete(before.hash);
    if (rules.keepsBelowBaseFee !== true) {
      if (rules.coversQueue === true) pool.set(sent.hash, sent);
      return undefined;
    }
    pool.set(sent.hash, sent);
    return sent.maxFeePerGas < (await baseFee()) ? { result: sent.hash } : undefined;
  };

  const byHash = async (hash: Hex): Promise<Answer | undefined> => {
    const kept = pool.get(hash);
    return kept === undefined || (await isKnown(hash)) ? undefined : { result: shown(kept) };
  };

  const pendingCount = async (address: Address): Promise<Answer | undefined> => {
    const has = (nonce: number) =>
      [...pool.values()].some((one) => one.nonce === nonce && one.from.toLowerCase() === address.toLowerCase());
    const start = await node.getTransactionCount({ address, blockTag: 'pending' });
    let count = start;
    while (has(count)) count += 1;
    return count === start ? undefined : { result: numberToHex(count) };
  };

  const answer: GethPool = async (method, [first, second]) => {
    await settle();
    if (method === 'eth_sendRawTransaction') return send(first as Hex);
    if (method === 'eth_getTransactionByHash') return byHash(first as Hex);
    if (method === 'eth_getTransactionCount' && second === 'pending') return pendingCount(first as Address);
    return undefined;
  };
  // Handles the calls one after the other, because geth's mempool has a lock.
  let last: Promise<unknown> = Promise.resolve();
  return (method, params) => {
    const next = last.then(() => answer(method, params));
    last = next.catch(() => {});
    return next;
  };
}

async function pooledFrom(raw: Hex): Promise<Pooled> {
  const { to, nonce, gas, value, data, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw as `0x02${string}`);
  const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  return {
    hash: keccak256(raw),
    raw,
    from,
    to: to ?? from,
    nonce: nonce ?? 0,
    gas: gas ?? 0n,
    value: value ?? 0n,
    data: data ?? '0x',
    tip: maxPriorityFeePerGas ?? 0n,
    maxFeePerGas: maxFeePerGas ?? 0n,
  };
}

/**
 * Reports whether both prices of `sent` are at least 10 % higher, as geth requires of a
 * replacement.
 */
function isBump(sent: Pooled, before: Pooled): boolean {
  return sent.tip * 10n >= before.tip * 11n && sent.maxFeePerGas * 10n >= before.maxFeePerGas * 11n;
}

function shown({ hash, from, to, nonce, gas, value, data }: Pooled) {
  const [shownNonce, shownGas, shownValue] = [nonce, gas, value].map((one) => numberToHex(one));
  const position = { blockHash: null, blockNumber: null, transactionIndex: null };
  return { hash, from, to, nonce: shownNonce, gas: shownGas, value: shownValue, input: data, ...position };
}
