import { OutScript, SigHash, Transaction } from '@scure/btc-signer';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { SEQUENCE, totalOf, virtualSizeOf } from '#chains/bitcoin/rules/utxo.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';

const VERSION = 2;

/** A transfer as scripts and satoshi. */
export interface Payment {
  /** The script of the wallet: it locks the UTXOs and receives the change. */
  readonly own: Uint8Array;
  /** Null for a cancellation: all UTXOs return to the wallet, minus the fee. */
  readonly to: { readonly script: Uint8Array; readonly amount: bigint } | null;
}

/**
 * Returns the payment of an intent; null when the intent holds an address of another network, or a
 * token. A payment of nothing to oneself is a cancellation.
 */
export function paymentOf({ chain, from, to, tokenAddress, amount }: TransferIntent): Payment | null {
  const network = networkOf(chain);
  if (network === null || tokenAddress !== null) return null;
  const [own, script] = [scriptOf(network, from), scriptOf(network, to)];
  if (own === null || script === null) return null;
  const units = unitsOf(amount);
  return { own, to: from === to && units === 0n ? null : { script, amount: units } };
}

/**
 * Returns the one unsigned transaction of a payment on these terms: the recipient's output first,
 * then the change.
 */
export function transactionOf({ own, to }: Payment, { utxos, change }: SpendPlan): Transaction {
  const transaction = new Transaction({ version: VERSION });
  for (const { txid, vout, amount } of utxos) {
    transaction.addInput({
      txid: hexToBytes(txid),
      index: vout,
      sequence: SEQUENCE,
      witnessUtxo: { script: own, amount },
    });
  }
  if (to !== null) transaction.addOutput(to);
  if (change > 0n) transaction.addOutput({ script: own, amount: change });
  return transaction;
}

/**
 * Returns the form in which it is stored and sent: a PSBT (BIP-174), which holds the amount of each
 * UTXO; signatures cover the amounts.
 */
export function psbtOf(transaction: Transaction): Uint8Array {
  return Uint8Array.from(transaction.toPSBT(0));
}

/** The number of UTXOs that a transaction spends, and whether it has change. */
export interface Shape {
  readonly utxos: number;
  readonly hasChange: boolean;
}

/** Returns the size of a signed transaction of this shape, in virtual bytes. */
export function sizeOfShape({ own, to }: Payment, { utxos, hasChange }: Shape): bigint {
  return virtualSizeOf(own, utxos, [...(to === null ? [] : [to.script]), ...(hasChange ? [own] : [])]);
}

/**
 * Returns what the transaction leaves to the miner, in satoshi. Negative when the outputs exceed
 * the inputs.
 */
export function feeOf({ to }: Payment, { utxos, change }: SpendPlan): bigint {
  return totalOf(utxos) - (to?.amount ?? 0n) - change;
}

/**
 * Returns what is signed for each input. For P2TR it is the hash of BIP-341 with the default type,
 * over all UTXOs with their amounts and all outputs. For P2WPKH it is the hash of BIP-143 with the
 * type ALL, over the names of all UTXOs, the amount of this one, and all outputs.
 *
 * @param own script of the wallet, which every input spends from
 * @param amounts the amount of each input, in satoshi
 */
export function sighashesOf(
  transaction: Transaction,
  own: Uint8Array,
  amounts: readonly bigint[],
): readonly Uint8Array[] {
  const lock = scriptTypeOf(own);
  if (lock?.type === 'p2wpkh') {
    const code = scriptCodeOf(lock.keyHash);
    return amounts.map((amount, i) => transaction.preimageWitnessV0(i, code, SigHash.ALL, amount));
  }
  const scripts = amounts.map(() => own);
  return amounts.map((_, i) => transaction.preimageWitnessV1(i, scripts, SigHash.DEFAULT, [...amounts]));
}

/**
 * BIP-143: "For P2WPKH witness program, the scriptCode is 0x1976a914{20-byte-pubkey-hash}88ac". The
 * library adds its length prefix elsewhere.
 */
export function scriptCodeOf(keyHash: Uint8Array): Uint8Array {
  return Uint8Array.from(OutScript.encode({ type: 'pkh', hash: Uint8Array.from(keyHash) }));
}

/**
 * Returns the terms that bytes have if they are a transaction of this payment. Only building the
 * transaction again proves that they are. Returns null for bytes that match no terms.
 */
export function readSpendPlan(psbt: Uint8Array, { to }: Payment): SpendPlan | null {
  const opened = openPsbt(psbt);
  if (opened === null) return null;
  const { transaction, utxos } = opened;
  const rest = transaction.outputsLength - (to === null ? 0 : 1);
  if (rest < 0 || rest > 1) return null;
  const change = rest === 0 ? 0n : transaction.getOutput(transaction.outputsLength - 1).amount;
  return change === undefined ? null : { utxos, change };
}

/** A stored payload that was read. */
interface OpenedPsbt {
  readonly transaction: Transaction;
  readonly utxos: readonly Utxo[];
}

/** Returns what a stored payload spends. Throws for a damaged payload. */
export function utxosIn(psbt: Uint8Array): readonly Utxo[] {
  return storedPsbt(psbt).utxos;
}

/**
 * Returns the script of the wallet whose UTXOs a stored payload spends. Throws for a damaged
 * payload.
 */
export function ownScriptIn(psbt: Uint8Array): Uint8Array {
  return Uint8Array.from(intact(storedPsbt(psbt).transaction.getInput(0).witnessUtxo?.script));
}

/**
 * Returns the size of a stored payload after signing, in virtual bytes. Throws for a damaged
 * payload.
 */
export function virtualSizeIn(psbt: Uint8Array): bigint {
  const { transaction } = storedPsbt(psbt);
  const own = intact(transaction.getInput(0).witnessUtxo?.script);
  const scripts = Array.from({ length: transaction.outputsLength }, (_, i) => intact(transaction.getOutput(i).script));
  return virtualSizeOf(own, transaction.inputsLength, scripts);
}

function storedPsbt(psbt: Uint8Array): OpenedPsbt {
  return intact(openPsbt(psbt));
}

/** Throws for a part of a stored payload that is missing. */
function intact<T>(part: T | null | undefined): T {
  if (part == null) throw new Error('a stored payload cannot be read');
  return part;
}

/** Returns the transaction of a PSBT with what it spends; null for bytes that are not one. */
function openPsbt(psbt: Uint8Array): OpenedPsbt | null {
  const transaction = parsed(psbt);
  if (transaction === null) return null;
  const utxos: Utxo[] = [];
  for (let i = 0; i < transaction.inputsLength; i++) {
    const { txid, index, witnessUtxo } = transaction.getInput(i);
    if (txid === undefined || index === undefined || witnessUtxo === undefined) return null;
    utxos.push({ txid: bytesToHex(Uint8Array.from(txid)), vout: index, amount: witnessUtxo.amount });
  }
  return utxos.length === 0 ? null : { transaction, utxos };
}

function parsed(psbt: Uint8Array): Transaction | null {
  try {
    return Transaction.fromPSBT(psbt);
  } catch {
    // btc-signer throws for bytes that are not a valid encoding.
    return null;
  }
}
