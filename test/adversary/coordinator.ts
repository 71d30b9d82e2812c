import type { Round } from '#cosigner/session/protocol.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import type { Approval } from '#domain/transaction/transaction.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { vaultId } from '../domain/cast.ts';
import { clock, HOUR_MS } from './clock.ts';
import type { Bytes, GameUtxo, Payee } from './networks.ts';
import { utxoOf, isBitcoin, NAMES, payeeOn, walletOn } from './networks.ts';
import type { Oracle } from './oracle.ts';
import type { Chance } from './random.ts';
import { digestOf } from './people.ts';

/** An intent, and every approval that the coordinator has for it. */
export interface Proposal {
  readonly intent: TransferIntent;
  readonly digest: string;
  readonly approvals: Approval[];
  readonly words: string;
  /** The nonce and the UTXO that an honest coordinator would use. */
  readonly nonce: bigint;
  readonly utxo: GameUtxo | null;
  /** Attempts that were signed. */
  attempts: number;
  /** Bytes that a co-signer has given a receipt for in advance. */
  readonly prepared: Bytes[];
}

/** A session that its honest signers have begun. */
export interface Begun {
  readonly proposal: Proposal;
  readonly request: SigningRequest & { readonly intent: TransferIntent };
  readonly signers: readonly PartyIndex[];
  /** The last rounds that are still to come, by honest signer. */
  readonly waiting: Map<PartyIndex, Round>;
  /**
   * The honest signers that have given their last message, with the policy rightfully in force
   * there then.
   */
  readonly given: Map<PartyIndex, Policy>;
  result: Readonly<Record<string, unknown>> | null;
}

export interface PaymentRequest {
  readonly chain: string;
  readonly tokenAddress: string | null;
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly to: Payee;
}

/** What the coordinator has collected: nothing that was ever signed is lost to it. */
export class Coordinator {
  readonly proposals: Proposal[] = [];
  /** Every policy that it has, real ones and its own, with what goes for their mandates. */
  readonly policies: AdoptedPolicy[] = [];
  readonly sessions: Begun[] = [];
  /** Every receipt that an honest co-signer gave, with the hex of the payload that it is for. */
  readonly receipts: { readonly by: PartyIndex; readonly payload: string; readonly receipt: Uint8Array }[] = [];
  /** Every statement that an honest co-signer made for it. */
  readonly statements: SignedStatement[] = [];
  readonly #chance: Chance;
  readonly #oracle: Oracle;
  readonly #publicKey: Uint8Array;
  #nonce = 5n;

  constructor(chance: Chance, oracle: Oracle, publicKey: Uint8Array) {
    this.#chance = chance;
    this.#oracle = oracle;
    this.#publicKey = publicKey;
  }

  wallet(chain: string): string {
    return walletOn(chain, this.#publicKey);
  }

  /**
   * Returns a UTXO of the wallet of a network, or null where there are none. The oracle finds it on
   * the chain.
   */
  utxo(chain: string): GameUtxo | null {
    if (!isBitcoin(chain)) return null;
    const utxo = utxoOf(chain, this.wallet(chain), this.#chance.bytes(32));
    this.#oracle.knows(utxo);
    return utxo;
  }

  nextNonce(): bigint {
    this.#nonce += 1n;
    return this.#nonce;
  }

  /** An intent that names a policy, without approvals yet. */
  propose(
    payment: PaymentRequest,
    named: Policy,
    { createdAtMs = clock.nowMs }: { readonly createdAtMs?: number } = {},
  ): Proposal {
    const { chain, tokenAddress, to } = payment;
    const intent: TransferIntent = {
      kind: 'transfer',
      vaultId,
      transactionId: newTransactionId(vaultId, clock.nowMs, this.#chance.bytes(10)),
      chain,
      from: this.wallet(chain),
      policyVersion: named.version,
      policyHash: policyHashOf(named),
      note: null,
      createdAtMs,
      expiresAtMs: Math.max(createdAtMs, clock.nowMs) + 24 * HOUR_MS,
      to: payeeOn(chain, to),
      tokenAddress,
      amount: amountOf(payment.amount),
      maxFee: amountOf(payment.maxFee),
      lookalikeOf: null,
    };
    const what = `${payment.amount} of ${tokenAddress === null ? 'the native asset' : 'the token'} to ${to}`;
    const words = `${what} on ${NAMES[chain]}, fee up to ${payment.maxFee}, under version ${named.version}`;
    const utxo = this.utxo(chain);
    const digest = digestOf(intentBytes(intent));
    const proposal = {
      intent,
      digest,
      approvals: [],
      words,
      nonce: this.nextNonce(),
      utxo,
      attempts: 0,
      prepared: [],
    };
    this.proposals.push(proposal);
    return proposal;
  }
}
