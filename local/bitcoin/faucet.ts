import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, concatBytes, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { RawTx, Transaction } from '@scure/btc-signer';
import { scriptOf, segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { hashOf } from './transaction.ts';

/**
 * The key of the payer of every deposit on the local chain. It may be public, since nothing is at
 * stake.
 */
const KEY = new Uint8Array(32).fill(0x11);
/**
 * Satoshi. A double spend pays ten times as much, so nodes accept it as a replacement of the
 * unconfirmed deposit.
 */
const FEE = 1_000n;

export const FAUCET_SCRIPT = faucetScript();

/** Returns the two transactions of a deposit: an old coinbase of the faucet, and its payment. */
export function deposit(script: Uint8Array, amount: bigint): { readonly source: string; readonly payment: string } {
  const source = coinbase(FAUCET_SCRIPT, amount + FEE);
  return { source, payment: spend(hashOf(source), amount + FEE, { script, amount }) };
}

/**
 * Returns a transaction that spends the input of a deposit again, back to the faucet. @param spent
 * the input of the deposit
 */
export function doubleSpend(spent: { readonly txid: string; readonly amount: bigint }): string {
  return spend(spent.txid, spent.amount, { script: FAUCET_SCRIPT, amount: spent.amount - 10n * FEE });
}

/** Returns a coinbase transaction. */
export function coinbase(script: Uint8Array, amount: bigint): string {
  // The height makes each coinbase unique (BIP-34); here random bytes do.
  const finalScriptSig = concatBytes(Uint8Array.of(8), randomBytes(8));
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: new Uint8Array(32), index: 0xffffffff, finalScriptSig, sequence: 0xffffffff }],
    outputs: [{ amount, script }],
    lockTime: 0,
    witnesses: undefined,
  });
  return bytesToHex(Uint8Array.from(raw));
}

function spend(txid: string, amount: bigint, output: { readonly script: Uint8Array; readonly amount: bigint }): string {
  const transaction = new Transaction({ version: 2 });
  const witnessUtxo = { script: FAUCET_SCRIPT, amount };
  transaction.addInput({ txid: hexToBytes(txid), index: 0, sequence: 0xfffffffd, witnessUtxo });
  transaction.addOutput(output);
  transaction.sign(KEY);
  transaction.finalize();
  return bytesToHex(Uint8Array.from(transaction.extract()));
}

function faucetScript(): Uint8Array {
  const network = networkOf(`bip122:${GENESIS.regtest}`);
  const script = network === null ? null : scriptOf(network, segwitAddressOf(network, secp256k1.getPublicKey(KEY)));
  if (script === null) throw new Error('the faucet has an address of regtest');
  return script;
}
