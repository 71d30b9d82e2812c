import { bytesToHex } from '@noble/hashes/utils.js';
import type { FeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { exceedsSizeCap, feeCeiling, parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import type { InspectedPayload } from '#chains/inspect/payload.ts';
import { inspectPayload, isEvidenced } from '#chains/inspect/payload.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { ChainAddress } from './chain-address.ts';
import type { JobPayment, SignedPayment } from './job.ts';
import type { RebuiltWallet } from './open.ts';
import { amountText, intentOf } from './transfer.ts';
import { signedWith } from './whole-key.ts';

/** What the person at the offline machine brings, beside the job. */
export interface SweepTerms {
  readonly wallets: readonly RebuiltWallet[];
  /** CAIP-2 to the address that receives everything on this chain. */
  readonly recipients: ReadonlyMap<string, ChainAddress>;
  readonly feeCeilings: FeeCeilings;
  /** The tokens that the person names beside the listed ones. */
  readonly tokens: readonly ChainAddress[];
}

type InspectedTransaction = Exclude<InspectedPayload, { readonly kind: 'message' }>;

/** A payment whose bytes do what its intent says, and nothing else. */
interface CheckedPayment {
  readonly chain: Chain;
  readonly payment: JobPayment;
  readonly wallet: RebuiltWallet;
  readonly intent: TransferIntent;
  readonly bytes: InspectedTransaction;
}

/** Returns the ceilings of the setting MAX_FEES of a co-signer; none when it is not set. */
export function configuredCeilings(): FeeCeilings {
  return parseFeeCeilings(process.env['MAX_FEES'] ?? '');
}

/**
 * Checks a job as a co-signer checks a request, and trusts nothing in it. Each payment goes to the
 * recipient of its chain, and from a rebuilt wallet. Its bytes pass the inspection of co-signers,
 * and its fee is below their ceilings. Its UTXOs have proven amounts, and no two payments use one
 * UTXO, nonce or asset. Throws with the number of the first payment that has a fault.
 */
export function checkedJob(payments: readonly JobPayment[], terms: SweepTerms): readonly CheckedPayment[] {
  if (payments.length === 0) throw new Error('The job has no payment.');
  const used = new Set<string>();
  return payments.map((payment, i) => {
    const fault = (words: string) =>
      new Error(visibleText(`Nothing was signed. Payment ${i + 1} of the job: ${words}`));
    const checked = checkedPayment(payment, terms);
    if (typeof checked === 'string') throw fault(checked);
    for (const resource of resourcesOf(checked)) {
      if (used.has(resource)) throw fault('another payment of the job uses the same UTXO, nonce or asset.');
      used.add(resource);
    }
    return checked;
  });
}

/** Returns what is wrong with a payment, as a text, or the payment with its inspected bytes. */
function checkedPayment(
  payment: JobPayment,
  { wallets, recipients, feeCeilings, tokens }: SweepTerms,
): CheckedPayment | string {
  const recipient = recipients.get(payment.chain);
  if (recipient === undefined) return `it is on ${payment.chain}, and no --to names an address on this chain.`;
  const { chain, address: to } = recipient;
  if (payment.to !== to) return `it pays ${payment.to}, and --to names ${to} on ${chain.name}.`;
  const ofChain = wallets.filter((one) => one.chain === payment.chain);
  // The rebuilt keys are known to everyone who was present, so nothing may stay with them.
  if (ofChain.some(({ address }) => address === to)) return `--to names the wallet ${to}, whose key was rebuilt.`;
  const wallet = ofChain.find(({ address }) => address === payment.from);
  if (wallet === undefined) return `no key that was rebuilt has the address ${payment.from} on ${chain.name}.`;
  if (payment.tokenAddress === to) return `it pays the token ${to} to its own contract.`;
  if (payment.amount === '0') return 'it moves nothing.';
  const { tokenAddress } = payment;
  // A job with invented tokens would pay the highest fee once for each of them.
  const isNamed = tokens.some((one) => one.chain.caip2 === chain.caip2 && one.address === tokenAddress);
  if (tokenAddress !== null && listedToken(chain, tokenAddress) === null && !isNamed)
    return `it moves ${tokenAddress} on ${chain.name}, which is not listed. Name it with --token, if you know it.`;
  const ceiling = feeCeiling(chain.caip2, feeCeilings);
  const intent = intentOf(chain, { ...transferOf(payment), to }, ceiling);
  const inspected = inspectPayload(intent, payment.payload);
  if (!inspected.ok && inspected.refusal === 'fee-above-cap')
    return `its fee is above the ceiling of ${amountText(chain, null, BigInt(ceiling))}. MAX_FEES can raise it.`;
  if (!inspected.ok) return `its bytes are not this payment: ${inspected.refusal}.`;
  const bytes = inspected.value;
  if (bytes.kind === 'message') return 'its bytes are a message.';
  if (exceedsSizeCap(chain.caip2, bytes, feeCeilings))
    return `its fee of ${amountText(chain, null, bytes.maxFee)} is more than its size can justify.`;
  if (!isEvidenced(bytes, payment.evidence)) return 'the amounts of its UTXOs are not proven.';
  return { chain, payment, wallet, intent, bytes };
}

function transferOf({ from, tokenAddress, amount, maxTokenFee }: JobPayment) {
  return { from, tokenAddress, amount, ...(maxTokenFee === undefined ? {} : { maxTokenFee }) };
}

/**
 * Returns what only one payment may use: each UTXO, or the nonce of the wallet and the asset. One
 * payment moves the whole asset of an account, so a false job cannot repeat the highest fee for it.
 * It can name tokens that do not exist, which the table shows (docs/known-limits.md).
 */
function resourcesOf({ chain, payment, bytes }: CheckedPayment): readonly string[] {
  if ('terms' in bytes) return bytes.terms.utxos.map((utxo) => `${chain.caip2} ${outpointText(utxo)}`);
  const account = `${chain.caip2} ${payment.from}`;
  return [`${account} nonce ${bytes.bid.nonce}`, `${account} asset ${payment.tokenAddress ?? 'native'}`];
}

/** Returns a table of what is signed, and the highest fees of each chain together. */
export function tableOf(checked: readonly CheckedPayment[]): readonly string[] {
  const rows = checked.map(({ chain, payment, bytes }) => {
    const { tokenAddress, amount, maxTokenFee } = payment;
    const withheld = maxTokenFee === undefined ? '' : `, of which the token withholds up to ${maxTokenFee} units`;
    const change = 'terms' in bytes ? bytes.terms.change : 0n;
    const returned = change === 0n ? '' : `, and ${amountText(chain, null, change)} return to the wallet`;
    const amountOfRow = `${amountText(chain, tokenAddress, BigInt(amount))}${withheld}${returned}`;
    return [chain.name, payment.from, amountOfRow, payment.to, amountText(chain, null, bytes.maxFee)];
  });
  const all = [['Chain', 'From', 'Amount', 'To', 'Highest fee'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const totals = [...Map.groupBy(checked, ({ chain }) => chain)].map(([chain, ofChain]) => {
    const fees = ofChain.reduce((sum, { bytes }) => sum + bytes.maxFee, 0n);
    return `Highest fees on ${chain.name} together: ${amountText(chain, null, fees)}`;
  });
  return [...lines, ...totals];
}

/**
 * Signs checked payments with the whole keys of their wallets. The rules of each chain join the
 * bytes and the signatures, and verify them. Throws when they refuse, which is a bug here.
 */
export function signedPayments(checked: readonly CheckedPayment[]): readonly SignedPayment[] {
  return checked.map(({ chain, payment, wallet, intent, bytes }) => {
    const { payload, validUntil, evidence: _evidence, maxTokenFee: _maxTokenFee, ...rest } = payment;
    const nonce = chain.family === 'evm' ? bytes.bid.nonce.toString() : payment.nonce;
    const digest = `0x${bytesToHex(bytes.signingDigest)}`;
    const composed = { nonce, payload, signingDigest: digest, maxFee: amountOf(bytes.maxFee), validUntil };
    const attempt = unsignedAttempt({ ...composed, purpose: 'intent' }, 1, 0);
    const signatures = bytes.signedMessages.map((message) => signedWith(wallet, message));
    const joined = rulesFor(chain).assemble(intent, attempt, signatures);
    if (!joined.ok) throw new Error(`The signed bytes on ${chain.name} were refused: ${joined.refusal.detail}.`);
    return { ...rest, nonce, payload, validUntil, ...joined.value };
  });
}
