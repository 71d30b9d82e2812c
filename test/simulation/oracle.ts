import { bytesToHex } from '@noble/hashes/utils.js';
import type { CheckedRequest, SigningRequest } from '#cosigner/policy/approval-check.ts';
import type { SimulatedChain } from './chains/chain.ts';

/**
 * A payment that a person has requested, and everything that people know about it. No two payments
 * of a chain have the same amount, so the oracle identifies a payment by its amount.
 */
export interface PaymentRequest {
  readonly key: string;
  readonly chain: SimulatedChain;
  readonly to: string;
  readonly amount: bigint;
  /** Null for the native asset. */
  readonly token: string | null;
  /** The signers, and how many of them must approve, when the payment was requested. */
  readonly terms: Terms;
  id: string | null;
  /** The people who have sent an approval, whether or not an answer came. */
  readonly requestedBy: Set<string>;
  /** The people whose approval was acknowledged. */
  readonly acknowledgedTo: Set<string>;
  /** The time after which the payment must not be executed; null for none. */
  notAfterMs: number | null;
  /** True when a person was informed that the payment will not be made. */
  isStopped: boolean;
  /** True when the service has refused the payment. */
  isRefused: boolean;
  /**
   * The payment that this one repeats, after a person ended it by acknowledgement; null for none.
   * `isUnknown`: all RPC nodes stated that its end was unknown.
   */
  repeats: { readonly payment: PaymentRequest; readonly isUnknown: boolean } | null;
}

export interface Terms {
  readonly threshold: number;
  readonly signers: readonly string[];
}

/**
 * Checks the invariants with only the people's requests and the chain, without code of the service.
 * It collects faults; the first fault ends a history.
 */
export class Oracle {
  readonly faults: string[] = [];
  readonly payments: PaymentRequest[] = [];
  /** The wallet on each chain. */
  readonly #wallets: ReadonlyMap<SimulatedChain, string>;
  /**
   * The weakest terms that may be in force: while a policy change is pending, the weaker of both.
   */
  #terms: Terms;
  readonly #signed = new Map<
    string,
    { readonly intent: string; readonly nonce: string | null; readonly digests: Map<number, string> }
  >();
  signatures = 0;
  /** True when a person has requested other terms. */
  hasChanged = false;

  /** @param wallets may be filled in later */
  constructor(wallets: ReadonlyMap<SimulatedChain, string>, terms: Terms) {
    this.#wallets = wallets;
    this.#terms = terms;
  }

  fault(line: string): void {
    this.faults.push(line);
  }

  get terms(): Terms {
    return this.#terms;
  }

  /** Records a pending policy change: from now on either policy may be in force. */
  changing(to: Terms): void {
    this.hasChanged = true;
    const signers = [...new Set([...this.#terms.signers, ...to.signers])];
    this.#terms = { threshold: Math.min(this.#terms.threshold, to.threshold), signers };
  }

  changed(to: Terms): void {
    this.#terms = to;
  }

  paymentRequest(chain: SimulatedChain, to: string, amount: bigint, token: string | null = null): PaymentRequest {
    const paymentRequest: PaymentRequest = {
      key: `wish-${this.payments.length + 1}`,
      chain,
      to,
      amount,
      token,
      terms: this.#terms,
      id: null,
      requestedBy: new Set(),
      acknowledgedTo: new Set(),
      notAfterMs: null,
      isStopped: false,
      isRefused: false,
      repeats: null,
    };
    this.payments.push(paymentRequest);
    return paymentRequest;
  }

  /** Checks invariant I5: one idempotency key creates one transaction. */
  created(paymentRequest: PaymentRequest, id: string): void {
    if (paymentRequest.id !== null && paymentRequest.id !== id)
      this.fault(`I5: ${paymentRequest.key} made ${paymentRequest.id} and ${id}`);
    const other = this.payments.find((one) => one !== paymentRequest && one.id === id);
    if (other !== undefined) this.fault(`I5: ${paymentRequest.key} and ${other.key} are both ${id}`);
    paymentRequest.id = id;
  }

  /**
   * Checks the release of a partial signature. Invariant I1: a transaction has one intent, one
   * nonce, and one digest for each attempt. Invariant I2: enough people have approved it.
   */
  signed(
    node: number,
    { intent, attempt, purpose }: SigningRequest,
    { intentDigest, signingDigest, bid }: CheckedRequest,
  ): void {
    this.signatures++;
    const id = intent.transactionId;
    const nonce = bid?.nonce.toString() ?? null;
    const known = this.#signed.get(id) ?? { intent: intentDigest, nonce, digests: new Map<number, string>() };
    this.#signed.set(id, known);
    if (known.intent !== intentDigest) this.fault(`I1: node ${node} signs another intent for ${id}`);
    if (known.nonce !== nonce) this.fault(`I1: node ${node} signs nonce ${nonce} for ${id}, which has ${known.nonce}`);
    const digest = known.digests.get(attempt) ?? bytesToHex(signingDigest);
    known.digests.set(attempt, digest);
    if (digest !== bytesToHex(signingDigest)) this.fault(`I1: node ${node} signs a second digest for ${id}/${attempt}`);
    if (intent.kind !== 'transfer') return this.fault(`I2: no person requested a ${intent.kind}`);
    const paymentRequest = this.#requestedKey(intent.chain, { ...intent, token: intent.tokenAddress });
    if (paymentRequest === null) {
      return this.fault(`I2: no person requested ${intent.amount} for ${intent.to}`);
    }
    if ((intent.notAfterMs ?? null) !== paymentRequest.notAfterMs)
      this.fault(`I2: ${paymentRequest.key} is signed with another end`);
    const approvals = [...paymentRequest.requestedBy].filter((person) =>
      paymentRequest.terms.signers.includes(person),
    ).length;
    if (approvals < paymentRequest.terms.threshold)
      this.fault(
        `I2: ${paymentRequest.key} is signed, and ${approvals} of ${paymentRequest.terms.threshold} approved it`,
      );
    if (paymentRequest.isStopped && purpose === 'intent')
      this.fault(`I2: ${paymentRequest.key} is signed, and a person got the answer that it is not`);
  }

  #requestedKey(
    caip2: string,
    payment: { readonly to: string; readonly amount: string | bigint; readonly token?: string | null },
  ): PaymentRequest | null {
    const { to, amount, token = null } = payment;
    const paymentRequest = this.payments.find(
      ({ chain, ...one }) => chain.row.caip2 === caip2 && one.amount === BigInt(amount) && one.token === token,
    );
    return paymentRequest?.to.toLowerCase() === to.toLowerCase() ? paymentRequest : null;
  }

  /**
   * Checks invariant I3: a payment that was requested once is paid once, and nothing else is paid.
   * Reads all blocks that may be new since the last call.
   */
  observation(chain: SimulatedChain): void {
    const payments = chain.paymentsFrom(this.#walletOn(chain), Math.max(0, chain.height - chain.deepestFork));
    for (const payment of payments) {
      const { hash, to, amount } = payment;
      const paymentRequest = this.#requestedKey(chain.row.caip2, payment);
      if (paymentRequest === null) {
        this.fault(`I3: ${hash} pays ${amount} to ${to}, and no person requested that`);
        continue;
      }
      const times = this.paid(paymentRequest);
      if (times > 1) this.fault(`I3: ${paymentRequest.key} is paid ${times} times`);
      this.#judgeRepetitions(paymentRequest);
    }
  }

  /**
   * Checks that a payment and its repetitions are paid once together. Another one is allowed for
   * each repetition that follows an end which all RPC nodes stated as unknown.
   */
  #judgeRepetitions({ repeats, ...one }: PaymentRequest): void {
    const key = repeats?.payment.key ?? one.key;
    const family = this.payments.filter((other) => (other.repeats?.payment.key ?? other.key) === key);
    const times = family.reduce((sum, other) => sum + this.paid(other), 0);
    const allowed = 1 + family.filter((other) => other.repeats?.isUnknown === true).length;
    if (times > allowed) this.fault(`I16: ${key} is paid ${times} times with its repetitions, not ${allowed} at most`);
  }

  /** Returns how many times the payment is in the chain. */
  paid({ chain, amount, token }: PaymentRequest): number {
    const payments = chain.paymentsFrom(this.#walletOn(chain), 0);
    return payments.filter((one) => one.amount === amount && (one.token ?? null) === token).length;
  }

  #walletOn(chain: SimulatedChain): string {
    const wallet = this.#wallets.get(chain);
    if (wallet === undefined) throw new Error('the wallet is made before anything is paid');
    return wallet;
  }
}
