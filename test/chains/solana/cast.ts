import { hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { ed25519 } from '@noble/curves/ed25519.js';
import { findChain, chainsFrom } from '#chains/families/registry.ts';
import { solanaClient } from '#chains/solana/chain-client.ts';
import { solanaRules } from '#chains/solana/rules/chain-rules.ts';
import { addressOfPublicKey } from '#chains/solana/rules/address.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import type { MessageIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { party } from '../../mpc/dealt-key.ts';
import { dealt, signedNow } from '../../mpc/frost/signing-room.ts';
import { NATIVE, present } from '../evm/cast.ts';

/** Returns accounts of the local chain, whose state they read directly. */
export const CLUSTER = 'solana:Conc1aveLoca11111111111111111111';

export function localCluster(differences: Partial<Chain> = {}): Chain {
  return { ...present(findChain(chainsFrom({}), 'solana-local')), ...differences };
}

export const clientAt = (...urls: string[]) => solanaClient(solanaRules(localCluster()), urls);

/** A wallet whose key is in three shares, of which two sign, as in Conclave. */
export class Wallet {
  readonly #room = dealt('frost-ed25519', 3, 2);
  readonly address: Address = addressOfPublicKey(this.#room.key.publicKey);

  sign(payload: string): { readonly bytes: Uint8Array } {
    const bytes = signedNow(this.#room, { message: hexToBytes(payload.slice(2)), signers: [party(1), party(3)] });
    return { bytes };
  }
}

/** Returns the address of a key that this process discards at once. */
export function stranger(): Address {
  return addressOfPublicKey(ed25519.getPublicKey(randomBytes(32)));
}

export function payment(wallet: Address, change: Partial<TransferIntent> = {}): TransferIntent {
  const { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs } = NATIVE;
  const frame = { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs };
  return {
    kind: 'transfer',
    ...frame,
    chain: CLUSTER,
    from: wallet,
    to: stranger(),
    tokenAddress: null,
    amount: units(1_000_000_000n),
    maxFee: units(20_000_000n),
    lookalikeOf: null,
    ...change,
  };
}

export function message(wallet: Address, text: string): MessageIntent {
  const { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs } = NATIVE;
  const frame = { vaultId, transactionId, policyVersion, policyHash, note, createdAtMs, expiresAtMs };
  return { kind: 'message', ...frame, chain: CLUSTER, from: wallet, format: 'solana-offchain', message: text };
}

export function units(value: bigint): Amount {
  return amountOf(value);
}

export function attemptOf(composed: ComposedBytes, number = 1): Attempt {
  return unsignedAttempt({ ...composed, purpose: 'intent' }, number, NATIVE.createdAtMs);
}
