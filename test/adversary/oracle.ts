import { bytesToHex } from '@noble/hashes/utils.js';
import { Transaction } from '@scure/btc-signer';
import { encodeFunctionData, erc20Abi, hexToBytes, isAddress, keccak256, parseTransaction } from 'viem';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { clock, HOUR_MS, MINUTE_MS } from './clock.ts';
import type { GameUtxo } from './networks.ts';
import { BITCOIN, FEE_CEILINGS, isBitcoin, NAMES } from './networks.ts';
import type { SignedDigests } from './people.ts';
import { digestOf } from './people.ts';

/** The facts about a vault that the oracle knows: which co-signers are hostile, and the key. */
export interface Truth {
  readonly threshold: number;
  readonly count: number;
  readonly hostile: ReadonlySet<PartyIndex>;
  /**
   * The public key in hex. On EVM chains and on Bitcoin's mainnet it is itself the key of the
   * wallet.
   */
  readonly publicKey: string;
}

/** A complete signature, with the request and the signers that made it. */
export interface Signature {
  readonly request: SigningRequest & { readonly intent: TransferIntent };
  /**
   * The honest signers, each with the policy that was rightfully in force there when the signer
   * sent its last message.
   */
  readonly honest: ReadonlyMap<PartyIndex, Policy>;
  /** The public key and the messages of the signature, in hex. */
  readonly publicKey: string;
  readonly messages: readonly string[];
}

/** The effect of bytes when they are executed, read without the production code. */
interface Effect {
  /** The network that accepts the bytes, by their key and UTXOs. Null when none does. */
  readonly chain: string | null;
  readonly isPaymentOf: (intent: TransferIntent) => boolean;
  /** True when nothing but the fee leaves the wallet. */
  readonly isNothing: boolean;
  readonly fee: bigint;
  /**
   * The nonces or UTXOs that the bytes use. Bytes that share one of them cannot both be executed.
   */
  readonly positions: readonly string[];
}

/** A policy at an honest co-signer, and the time when the co-signer adopted it. */
interface Adoption {
  readonly policy: Policy;
  readonly atMs: number;
}

/** The number of policies that each honest co-signer had adopted when a device drew its nonce. */
export type AdoptedCounts = ReadonlyMap<PartyIndex, number>;

/** An approval by a device of the people. */
export interface DeviceApproval {
  readonly deviceId: string;
  /** The policy that the device was shown as the one in force. */
  readonly policy: Policy;
  readonly adoptedCounts: AdoptedCounts;
  /**
   * True when the device received an honest co-signer's answer to its nonce that named another
   * policy.
   */
  readonly isContradicted: boolean;
}

const DAY_MS = 24 * HOUR_MS;
/** The maximum age of a statement that a device accepts, as the documents claim. */
const FRESH_MS = 5 * MINUTE_MS;

/**
 * Judges a game by what devices really signed and by the true history of the policies. It decides
 * without production code whether a signature is allowed.
 */
export class Oracle {
  readonly faults: string[] = [];
  /** The number of signatures that some network accepts. */
  effective = 0;
  readonly #truth: Truth;
  readonly #digests: SignedDigests;
  readonly #utxos = new Map<string, GameUtxo>();
  /** The policies that were rightfully in force at each honest co-signer, in order. */
  readonly #histories = new Map<PartyIndex, Adoption[]>();
  /** The first policy of each version that an honest co-signer adopted. */
  readonly #adoptions = new Map<number, { readonly hash: string; readonly expiresAtMs: number }>();
  /** The newest policy version under which each device has approved. */
  readonly #approvedUnder = new Map<string, number>();
  /** The intents that each honest co-signer recorded while its rightful policy allowed them. */
  readonly #recorded = new Map<PartyIndex, Set<string>>();
  readonly #payments = new Map<string, Effect[]>();

  constructor(truth: Truth, digests: SignedDigests) {
    this.#truth = truth;
    this.#digests = digests;
  }

  knows(utxo: GameUtxo): void {
    this.#utxos.set(`${utxo.utxo.txid}:${utxo.utxo.vout}`, utxo);
  }

  /**
   * Records a new key: the first policy of the people is rightfully in force, whatever else was
   * pinned.
   */
  created(index: PartyIndex, first: Policy): void {
    this.#histories.set(index, [{ policy: first, atMs: clock.nowMs }]);
  }

  inForceAt(index: PartyIndex): Policy {
    const adoption = this.#histories.get(index)?.at(-1);
    if (adoption === undefined) throw new Error('the co-signer has a key');
    return adoption.policy;
  }

  /**
   * Records that a co-signer has adopted a policy. The policy is rightfully in force when the
   * people approved it and the co-signer adopted it in time.
   */
  adopted(index: PartyIndex, adopting: AdoptedPolicy): void {
    const before = this.inForceAt(index);
    const { policy, mandate } = adopting;
    if (mandate !== null) this.#judgeHistories(policy, mandate.expiresAtMs);
    if (mandate === null || policy.version !== before.version + 1) return;
    if (policy.previousHash !== policyHashOf(before) || policy.vaultId !== before.vaultId) return;
    const digest = digestOf(mandateBytes(mandate, policyHashOf(policy)));
    const needed = Math.max(before.threshold, ...before.rules.higherThresholds.map((step) => step.threshold));
    if (this.#digests.signersOf(digest, before) < needed) return;
    const isHeld = (one: Adoption) => policyHashOf(one.policy) === policyHashOf(policy);
    const isInTime = clock.nowMs < mandate.expiresAtMs;
    // A co-signer that was unreachable may adopt an expired change that an honest one adopted in
    // time.
    if (!isInTime && ![...this.#histories.values()].some((history) => history.some(isHeld))) return;
    this.#histories.get(index)?.push({ policy, atMs: clock.nowMs });
  }

  /**
   * Judges whether honest co-signers have two policies of one version. Two groups of t share an
   * honest co-signer where fewer than 2t - n are hostile, and it chose one policy while the first
   * mandate was valid.
   */
  #judgeHistories(policy: Policy, expiresAtMs: number): void {
    const { threshold, count, hostile } = this.#truth;
    const hash = policyHashOf(policy);
    const first = this.#adoptions.get(policy.version);
    if (first === undefined) this.#adoptions.set(policy.version, { hash, expiresAtMs });
    const isSplit = first !== undefined && first.hash !== hash && clock.nowMs < first.expiresAtMs;
    if (isSplit && hostile.size < 2 * threshold - count) {
      this.faults.push(`honest co-signers adopted two policies of version ${policy.version}`);
    }
  }

  /**
   * Returns the number of policies at each honest co-signer, at the time when a device draws its
   * nonce.
   */
  adoptedCounts(): AdoptedCounts {
    return new Map([...this.#histories].map(([index, history]) => [index, history.length]));
  }

  /** Judges the approval of a device by the policy that it was shown. */
  approved({ deviceId, policy, adoptedCounts, isContradicted }: DeviceApproval): void {
    const { threshold, hostile } = this.#truth;
    const hash = policyHashOf(policy);
    const honest = [...adoptedCounts.keys()].filter((index) =>
      this.#heldSince(index, adoptedCounts).map(policyHashOf).includes(hash),
    );
    const last = this.#approvedUnder.get(deviceId) ?? 0;
    this.#approvedUnder.set(deviceId, Math.max(last, policy.version));
    const faults = [
      honest.length + hostile.size < threshold ? 'and fewer than t co-signers have it in force' : null,
      isContradicted ? 'and a co-signer that has another one said so' : null,
      policy.version < last ? `and has approved under version ${last} before` : null,
    ];
    for (const fault of faults) {
      if (fault !== null) this.faults.push(`a device approves under version ${policy.version}, ${fault}`);
    }
  }

  /**
   * Returns the policies that a co-signer can rightfully have stated in answer to a nonce, in a
   * statement that is fresh enough.
   */
  #heldSince(index: PartyIndex, adoptedCounts: AdoptedCounts): readonly Policy[] {
    const history = this.#histories.get(index) ?? [];
    const isFresh = (i: number) => clock.nowMs - (history[i + 1]?.atMs ?? clock.nowMs) <= FRESH_MS;
    return history.filter((_, i) => i >= (adoptedCounts.get(index) ?? 0) - 1 && isFresh(i)).map(({ policy }) => policy);
  }

  /** Records that an honest co-signer has written its row, for a session or a receipt. */
  committed(index: PartyIndex, { intent }: SigningRequest): void {
    const digest = digestOf(intentBytes(intent));
    if (this.#missingApprovals(digest, this.inForceAt(index)) > 0) return;
    const known = this.#recorded.get(index) ?? new Set<string>();
    this.#recorded.set(index, known.add(digest));
  }

  /** Judges a signature to which all signers have given their last message. */
  signed(signature: Signature): void {
    const { request, honest } = signature;
    const effect = this.#effectOf(signature);
    // No network accepts this signature, so it has no effect.
    if (effect.chain === null) return;
    this.effective += 1;
    const faults = [...honest].flatMap(([index, policy]) => this.#faultsUnder(policy, index, { request, effect }));
    const hashes = new Set([...honest.values()].map(policyHashOf));
    if (hashes.size > 1) faults.push('honest co-signers with different policies in force signed together');
    if (request.purpose === 'intent') faults.push(...this.#repeats(request.intent, effect, honest));
    this.faults.push(...new Set(faults));
  }

  #missingApprovals(digest: string, policy: Policy): number {
    return policy.threshold - this.#digests.signersOf(digest, policy);
  }

  #faultsUnder(
    policy: Policy,
    index: PartyIndex,
    { request, effect }: { readonly request: Signature['request']; readonly effect: Effect },
  ): readonly string[] {
    const { intent, purpose } = request;
    const digest = digestOf(intentBytes(intent));
    const faults: string[] = [];
    const isRecorded = purpose === 'cancellation' && this.#recorded.get(index)?.has(digest) === true;
    const isApproved = this.#missingApprovals(digest, policy) <= 0;
    if (!isApproved && !isRecorded) {
      const [found, requested] = [this.#digests.signersOf(digest, policy), policy.threshold];
      faults.push(`signed what the people did not approve: ${found} of ${requested} under version ${policy.version}`);
    }
    if (effect.chain !== intent.chain) {
      faults.push(`approved for ${NAMES[intent.chain]}, and valid on ${NAMES[effect.chain ?? '']}`);
    }
    const isPaid = purpose === 'intent' && effect.isPaymentOf(intent);
    if (!isPaid && !effect.isNothing) faults.push('the bytes do something else than the intent');
    if (effect.fee > BigInt(intent.maxFee)) faults.push('the fee is above the one of the intent');
    if (effect.fee > (FEE_CEILINGS[intent.chain] ?? 0n)) faults.push('the fee is above the ceiling of the co-signer');
    // A cancellation moves nothing, and is allowed for thirty days more.
    const endsAtMs = intent.expiresAtMs + (purpose === 'cancellation' ? 31 : 1) * DAY_MS;
    if (clock.nowMs >= endsAtMs) faults.push('the intent has expired');
    if (intent.createdAtMs > clock.nowMs + MINUTE_MS) faults.push('the intent is of the future');
    if (!isRecorded) faults.push(...limitFaults(policy, request, effect));
    return faults;
  }

  /** Checks that a transaction pays once: each two of its payments must exclude each other. */
  #repeats(intent: TransferIntent, effect: Effect, honest: ReadonlyMap<PartyIndex, Policy>): readonly string[] {
    const { threshold, count, hostile } = this.#truth;
    const known = this.#payments.get(intent.transactionId) ?? [];
    this.#payments.set(intent.transactionId, [...known, effect]);
    const isForEvery = [...honest.values()].every(({ rules }) => rules.signOnce === 'every-cosigner');
    // The documents guarantee single payment with receipts of every co-signer, or for f < 2t - n.
    if (!isForEvery && hostile.size >= 2 * threshold - count) return [];
    const excludes = (other: Effect) => other.positions.some((position) => effect.positions.includes(position));
    return known.every(excludes) ? [] : ['one payment is signed twice'];
  }

  #effectOf({ request, publicKey, messages }: Signature): Effect {
    return isBitcoin(request.intent.chain)
      ? this.#bitcoinEffect(request.payload, publicKey)
      : this.#evmEffect(request, { publicKey, messages });
  }

  #evmEffect(
    { payload, intent: { from } }: Signature['request'],
    { publicKey, messages }: Pick<Signature, 'publicKey' | 'messages'>,
  ): Effect {
    const bytes = hexToBytes(`0x${payload.slice(2)}`);
    const transaction = parseTransaction(`0x${payload.slice(2)}`);
    const { chainId, to, value = 0n, data = '0x', nonce = 0, gas = 0n } = transaction;
    const { maxFeePerGas = 0n } = transaction.type === 'eip1559' ? transaction : {};
    const isOwn = publicKey === this.#truth.publicKey && messages[0] === keccak256(bytes).slice(2);
    const isTo = (address: string) => to?.toLowerCase() === address.toLowerCase();
    return {
      chain: isOwn ? `eip155:${chainId}` : null,
      isPaymentOf: (intent) =>
        intent.tokenAddress === null
          ? isTo(intent.to) && value === BigInt(intent.amount) && data === '0x'
          : isTo(intent.tokenAddress) && value === 0n && data === tokenCall(intent),
      isNothing: isTo(from) && value === 0n && data === '0x',
      fee: gas * maxFeePerGas,
      positions: [`${chainId}:${nonce}`],
    };
  }

  #bitcoinEffect(payload: string, publicKey: string): Effect {
    const transaction = Transaction.fromPSBT(hexToBytes(`0x${payload.replace(/^0x/, '')}`));
    const inputs = Array.from({ length: transaction.inputsLength }, (_, i) => transaction.getInput(i));
    const outputs = Array.from({ length: transaction.outputsLength }, (_, i) => transaction.getOutput(i));
    const positions = inputs.map(({ txid = new Uint8Array(), index }) => `${bytesToHex(txid)}:${index}`);
    const utxos = positions.flatMap((position) => this.#utxos.get(position) ?? []);
    const total = utxos.reduce((sum, { utxo }) => sum + utxo.amount, 0n);
    const given = outputs.reduce((sum, { amount = 0n }) => sum + amount, 0n);
    const own = bytesToHex(inputs[0]?.witnessUtxo?.script ?? new Uint8Array());
    const foreign = outputs.filter(({ script = new Uint8Array() }) => bytesToHex(script) !== own);
    const [first] = utxos;
    // Mainnet UTXOs belong to the key itself, and UTXOs of test networks to keys derived from it.
    const isOwner = first !== undefined && (first.chain === BITCOIN) === (publicKey === this.#truth.publicKey);
    return {
      chain: isOwner && utxos.length === inputs.length ? first.chain : null,
      isPaymentOf: ({ chain, to, amount }) => {
        const network = networkOf(chain);
        const script = network === null ? null : scriptOf(network, to);
        const [paid] = foreign;
        return (
          foreign.length === 1 &&
          script !== null &&
          bytesToHex(paid?.script ?? new Uint8Array()) === bytesToHex(script) &&
          paid?.amount === BigInt(amount)
        );
      },
      isNothing: foreign.length === 0,
      fee: total - given,
      positions,
    };
  }
}

/** Returns the limits that a request exceeds, with addresses compared as people compare them. */
function limitFaults(policy: Policy, { intent, purpose }: Signature['request'], { fee }: Effect): readonly string[] {
  const isSame = (a: string | null, b: string | null) => a?.toLowerCase().trim() === b?.toLowerCase().trim();
  return policy.rules.limits.flatMap(({ chain, tokenAddress, perTransaction }) => {
    if (chain !== intent.chain || perTransaction === null) return [];
    const moved = purpose === 'intent' && isSame(tokenAddress, intent.tokenAddress) ? BigInt(intent.amount) : 0n;
    const paid = tokenAddress === null && policy.rules.limitsIncludeFees === true ? fee : 0n;
    return moved + paid > BigInt(perTransaction) ? ['more leaves the wallet than the limit allows'] : [];
  });
}

function tokenCall({ to, amount }: TransferIntent): string {
  if (!isAddress(to, { strict: false })) return '';
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, BigInt(amount)] });
}
