import { bytesToHex } from '@noble/hashes/utils.js';
import type { CheckedRequest, SigningRequest } from '#cosigner/policy/approval-check.ts';
import type { SimulatedChain } from './chains/chain.ts';

/**
 * A payment that a person has requested, and everything that the people know of it. No two payments
 * of a chain have the same amount, by which the oracle identifies them.
 */
export interface PaymentRequest {
  readonly key: string;
  readonly chain: SimulatedChain;
  readonly to: string;
  readonly amount: bigint;
  /** The signers, and how many of them have to request it, whatever else happens. */
  readonly terms: Terms;
  id: string | null;
  /** The people who have sent an approval, whether or not an answer came. */
  readonly requestedBy: Set<string>;
  /** The people whose approval was acknowledged. */
  readonly acknowledgedTo: Set<string>;
  /** The end of the time in which it may be carried out; null for none. */
  notAfterMs: number | null;
  /** A person got the answer that it will not be paid. */
  isStopped: boolean;
  /** The service has refused it. */
  isRefused: boolean;
}

export interface Terms {
  readonly threshold: number;
  readonly signers: readonly string[];
}

/**
 * Checks what must hold from the requests of the people and from the chain alone: it shares no code
 * with the service. It keeps its faults; a history fails with the first of them.
 */
export class Oracle {
  readonly faults: string[] = [];
  readonly payments: PaymentRequest[] = [];
  /** The wallet on each chain. */
  readonly #wallets: ReadonlyMap<SimulatedChain, string>;
  /** What is in force beyond doubt: while a change is under way, the weaker of both. */
  #terms: Terms;
  readonly #signed = new Map<
    string,
    { readonly intent: string; readonly nonce: string | null; readonly digests: Map<number, string> }
  >();
  signatures = 0;
  /** A person has requested other terms. */
  hasChanged = false;

  /** @param wallets may come to be known later */
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

  /** From now on either may be in force. */
  changing(to: Terms): void {
    this.hasChanged = true;
    const signers = [...new Set([...this.#terms.signers, ...to.signers])];
    this.#terms = { threshold: Math.min(this.#terms.threshold, to.threshold), signers };
  }

  changed(to: Terms): void {
    this.#terms = to;
  }

  paymentRequest(chain: SimulatedChain, to: string, amount: bigint): PaymentRequest {
    const paymentRequest: PaymentRequest = {
      key: `wish-${this.payments.length + 1}`,
      chain,
      to,
      amount,
      terms: this.#terms,
      id: null,
      requestedBy: new Set(),
      acknowledgedTo: new Set(),
      notAfterMs: null,
      isStopped: false,
      isRefused: false,
    };
    this.payments.push(paymentRequest);
    return paymentRequest;
  }

  /** I5: one key, one transaction. */
  created(paymentRequest: PaymentRequest, id: string): void {
    if (paymentRequest.id !== null && paymentRequest.id !== id)
      this.fault(`I5: ${paymentRequest.key} made ${paymentRequest.id} and ${id}`);
    const other = this.payments.find((one) => one !== paymentRequest && one.id === id);
    if (other !== undefined) this.fault(`I5: ${paymentRequest.key} and ${other.key} are both ${id}`);
    paymentRequest.id = id;
  }

  /**
   * Judges the release of a partial signature. I1: one transaction, one intent, one nonce, and one
   * digest for each attempt. I2: enough people have approved it.
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
    const paymentRequest = this.#requestedKey(intent.chain, intent);
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
    { to, amount }: { readonly to: string; readonly amount: string | bigint },
  ): PaymentRequest | null {
    const paymentRequest = this.payments.find(
      ({ chain, ...one }) => chain.row.caip2 === caip2 && one.amount === BigInt(amount),
    );
    return paymentRequest?.to.toLowerCase() === to.toLowerCase() ? paymentRequest : null;
  }

  /**
   * I3: a payment that was requested once is paid once, and nothing else is ever paid. Reads all
   * blocks that may be new since the last time.
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
    }
  }

  /** How often it stands in the chain. */
  paid({ chain, amount }: PaymentRequest): number {
    return chain.paymentsFrom(this.#walletOn(chain), 0).filter((one) => one.amount === amount).length;
  }

  #walletOn(chain: SimulatedChain): string {
    const wallet = this.#wallets.get(chain);
    if (wallet === undefined) throw new Error('the wallet is made before anything is paid');
    return wallet;
  }
}
