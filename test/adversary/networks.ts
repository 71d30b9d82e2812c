import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import { addressOn } from '#chains/inspect/address-on.ts';
import { scriptOf, segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { composeTransaction as composeBitcoin } from '#chains/bitcoin/rules/compose.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { composeTransaction as composeEvm } from '#chains/evm/rules/compose.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { present } from '../chains/evm/cast.ts';

/** The networks of the games. One ECDSA key has a wallet on each of them. */
export const ETHEREUM = 'eip155:1';
export const SEPOLIA = 'eip155:11155111';
export const BITCOIN = `bip122:${GENESIS.mainnet}`;
export const TESTNET = `bip122:${GENESIS.testnet4}`;

export const NAMES: Readonly<Record<string, string>> = {
  [ETHEREUM]: 'Ethereum',
  [SEPOLIA]: 'Sepolia',
  [BITCOIN]: 'Bitcoin',
  [TESTNET]: 'testnet4',
};

export const ETHER = 10n ** 18n;
export const BTC = 10n ** 8n;
/** The maximum fee that every honest co-signer accepts on a network (MAX_FEES). */
export const FEE_CEILINGS: Readonly<Record<string, bigint>> = {
  [ETHEREUM]: ETHER / 20n,
  [SEPOLIA]: ETHER / 20n,
  [BITCOIN]: BTC / 50n,
  [TESTNET]: BTC / 50n,
};

export const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export type Payee = 'supplier' | 'mallory';
const ACCOUNTS = {
  supplier: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  mallory: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
};
/** Points of secp256k1: G and 2G. */
const POINTS = {
  supplier: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  mallory: '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5',
};

export function isBitcoin(chain: string): boolean {
  return networkOf(chain) !== null;
}

/** The address of a payee on a network. */
export function payeeOn(chain: string, who: Payee): string {
  const network = networkOf(chain);
  return network === null ? ACCOUNTS[who] : segwitAddressOf(network, hexToBytes(POINTS[who]));
}

const WALLETS = new Map<string, string>();

/** The wallet of a key on a network, as the production code derives it. */
export function walletOn(chain: string, publicKey: Uint8Array): string {
  const scheme = 'ecdsa-secp256k1';
  const name = `${chain} ${bytesToHex(publicKey)}`;
  const wallet = WALLETS.get(name) ?? present(addressOn(chain, scheme, walletKey({ scheme, publicKey }, chain)));
  WALLETS.set(name, wallet);
  return wallet;
}

/** A UTXO of one network, with the transaction that created it. */
export interface GameUtxo {
  readonly chain: string;
  readonly raw: string;
  readonly utxo: { readonly txid: string; readonly vout: number; readonly amount: bigint };
}

/**
 * Returns a UTXO of two bitcoin that a wallet has on a network. @param source distinguishes the
 * transaction that created it: 32 bytes
 */
export function utxoOf(chain: string, address: string, source: Uint8Array): GameUtxo {
  const amount = 2n * BTC;
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: source, index: 0, finalScriptSig: new Uint8Array(), sequence: 0 }],
    outputs: [{ amount, script: present(scriptOf(present(networkOf(chain)), address)) }],
    lockTime: 0,
    witnesses: undefined,
  });
  const txid = bytesToHex(sha256(sha256(raw)).toReversed());
  return { chain, raw: bytesToHex(raw), utxo: { txid, vout: 0, amount } };
}

/** The terms that a coordinator chooses for the bytes of an effect. */
export interface Choice {
  readonly fee: bigint;
  readonly nonce: bigint;
  /** Null on a chain without UTXOs. */
  readonly utxo: GameUtxo | null;
}

export interface Bytes {
  readonly payload: string;
  readonly evidence: readonly string[];
}

const GAS_LIMIT = 60_000n;

/**
 * Returns the bytes of an effect, with any fee; null when no such bytes exist, as for a payment
 * above the UTXO.
 */
export function bytesOf(effect: OnChainIntent, { fee, nonce, utxo }: Choice): Bytes | null {
  if (!isBitcoin(effect.chain)) {
    const price = (fee / GAS_LIMIT).toString();
    const quote = { gasLimit: GAS_LIMIT.toString(), maxFeePerGas: price, maxPriorityFeePerGas: price };
    const free = { ...effect, maxFee: amountOf(10n ** 30n) };
    return { payload: composeEvm(free, { ...quote, maxFee: free.maxFee }, nonce).payload, evidence: [] };
  }
  if (effect.kind !== 'transfer' || utxo === null) return null;
  const change = utxo.utxo.amount - BigInt(effect.amount) - fee;
  if (change < 1_000n) return null;
  const free = { ...effect, maxFee: amountOf(21n * 10n ** 14n) };
  const { payload } = composeBitcoin(free, { terms: { utxos: [utxo.utxo], change } }, 0n);
  return { payload, evidence: [utxo.raw] };
}
