import type { Round } from '#cosigner/session/protocol.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import type { Approval } from '#domain/access/approval.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { vaultId } from '../domain/cast.ts';
import { clock, HOUR_MS } from './clock.ts';
import type { Bytes, GameUtxo, Payee } from './networks.ts';
import { utxoOf, isBitcoin, NAMES, payeeOn, walletOn } from './networks.ts';
import type { Oracle } from './oracle.ts';
import type { Chance } from './random.ts';
import { digestOf } from './people.ts';

/** An intent, and every approval of it that the coordinator has. */
export interface Proposal {
  readonly intent: TransferIntent;
  readonly digest: string;
  readonly approvals: Approval[];
  readonly words: string;
  /** The nonce and the UTXO that an honest coordinator would use. */
  readonly nonce: bigint;
  readonly utxo: GameUtxo | null;
  /** The number of attempts that were signed. */
  attempts: number;
  /** Bytes for which a co-signer has given a receipt in advance. */
  readonly prepared: Bytes[];
}

/** A session that its honest signers have started. */
export interface Begun {
  readonly proposal: Proposal;
  readonly request: SigningRequest & { readonly intent: TransferIntent };
  readonly signers: readonly PartyIndex[];
  /** The rounds that honest signers have not run yet, by signer: the last round of each. */
  readonly waiting: Map<PartyIndex, Round>;
  /**
   * The honest signers that have sent their last message, with the policy that was rightfully in
   * force at each of them at that time.
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

/** Everything that the coordinator has collected. It keeps all that was ever signed. */
export class Coordinator {
  readonly proposals: Proposal[] = [];
  /**
   * Every policy that the coordinator has, genuine and forged, with a mandate that it presents for
   * each.
   */
  readonly policies: AdoptedPolicy[] = [];
  readonly sessions: Begun[] = [];
  /** Every receipt of an honest co-signer, with the payload in hex that the receipt is for. */
  readonly receipts: { readonly by: PartyIndex; readonly payload: string; readonly receipt: Uint8Array }[] = [];
  /** Every statement that an honest co-signer has signed for the coordinator. */
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
   * Returns a new UTXO of the wallet on a network, or null for a network without UTXOs. The oracle
   * then regards the UTXO as existing.
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

  /** Proposes an intent that names a policy, without approvals yet. */
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
