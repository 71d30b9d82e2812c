import { createHash } from 'node:crypto';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bitcoinClient } from '#chains/bitcoin/chain-client.ts';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { addressOfPublicKey, scriptOf } from '#chains/bitcoin/rules/address.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import type { Network } from '#chains/bitcoin/rules/network.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { AttemptPurpose, Intent, MessageIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { party } from '../../mpc/dealt-key.ts';
import { dealt, signedNow } from '../../mpc/frost/signing-room.ts';
import { NATIVE, present } from '../evm/cast.ts';

export const REGTEST = `bip122:${GENESIS.regtest}`;
export const BTC = 100_000_000n;

export const regtest: Network = present(networkOf(REGTEST));
export const mainnet: Network = present(networkOf(`bip122:${GENESIS.mainnet}`));

export function localNetwork(differences: Partial<Chain> = {}): Chain {
  return { ...present(findChain(chainsFrom({}), 'bitcoin-regtest')), ...differences };
}

export const clientAt = (...urls: string[]) => bitcoinClient(bitcoinRules(localNetwork()), urls);

/** A wallet whose key is in three shares, of which two sign, as in Conclave. */
export class Wallet {
  readonly #room = dealt('frost-secp256k1-tr', 3, 2);
  readonly address = addressOfPublicKey(regtest, this.#room.key.publicKey);

  /** The fields that the bytes of an intent require. */
  sign(intent: Intent, payload: string): readonly { readonly bytes: Uint8Array }[] {
    const inspected = inspectPayload(intent, payload);
    if (!inspected.ok) throw new Error(inspected.refusal);
    return inspected.value.signedMessages.map((hash) => {
      return { bytes: signedNow(this.#room, { message: hash, signers: [party(1), party(3)] }) };
    });
  }
}

/** Returns the address of a key that this process discards at once. */
export function stranger(network: Network = regtest): string {
  const secret = secp256k1.utils.randomSecretKey(randomBytes(48));
  return addressOfPublicKey(network, secp256k1.getPublicKey(secret));
}

const { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs } = NATIVE;
const frame = { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs };

export function payment(from: string, change: Partial<TransferIntent> = {}): TransferIntent {
  return {
    kind: 'transfer',
    ...frame,
    chain: REGTEST,
    from,
    to: stranger(),
    tokenAddress: null,
    amount: units(BTC),
    maxFee: units(150_000n),
    lookalikeOf: null,
    ...change,
  };
}

export function message(from: string, text: string, change: Partial<MessageIntent> = {}): MessageIntent {
  return { kind: 'message', ...frame, chain: REGTEST, from, format: 'bip322', message: text, ...change };
}

export function units(value: bigint): Amount {
  return amountOf(value);
}

export function attemptOf(composed: ComposedBytes, number = 1, purpose: AttemptPurpose = 'intent'): Attempt {
  return unsignedAttempt({ ...composed, purpose }, number, createdAtMs);
}

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.slice(2));
}

/** Returns a transaction that pays a script, without its witness, and the UTXO that it creates. */
export function sourceOf(script: Uint8Array, amount: bigint): { readonly raw: string; readonly utxo: Utxo } {
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: randomBytes(32), index: 0, finalScriptSig: new Uint8Array(), sequence: 0 }],
    outputs: [
      { amount: 1_000n, script: present(scriptOf(regtest, stranger())) },
      { amount, script },
    ],
    lockTime: 0,
    witnesses: undefined,
  });
  const once = createHash('sha256').update(raw).digest();
  const txid = createHash('sha256').update(once).digest('hex').match(/../g)?.toReversed().join('') ?? '';
  return { raw: bytesToHex(Uint8Array.from(raw)), utxo: { txid, vout: 1, amount } };
}
