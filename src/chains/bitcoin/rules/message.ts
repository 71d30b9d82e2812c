import { Transaction, RawTx } from '@scure/btc-signer';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { ChainSignature, MessageText } from '#chains/chain-rules.ts';
import { encodingFault } from '#chains/message-text.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import type { ScriptType } from '#chains/bitcoin/rules/script-type.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { sighashesOf } from '#chains/bitcoin/rules/transaction.ts';
import { witnessOf } from '#chains/bitcoin/rules/witness.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

const OP_RETURN = 0x6a;
const PUSH_32 = 32;

/**
 * BIP-322: "Signers MUST prefix the signature with the variant that was used to create the
 * signature." This one is the witness stack alone.
 */
const SIMPLE_VARIANT = 'smp';

/**
 * Reads the text of a new message. Returns what is stored, shown and signed. Refuses with a text
 * for users. The empty message is valid: BIP-322 has vectors for it, and services request it as
 * proof of an address.
 */
export function readMessage(text: string): Result<MessageText, string> {
  const fault = encodingFault(text);
  return fault === null ? accepted({ format: 'bip322', message: text }) : refused(fault);
}

export interface SignedMessage {
  /** The transaction `to_sign`, unsigned. */
  readonly bytes: Uint8Array;
  /** 32 bytes. */
  readonly sighash: Uint8Array;
  /** The script type of the wallet. */
  readonly lock: ScriptType;
}

/**
 * Returns what is signed for a message (BIP-322, the simple form), or null for an intent that is
 * not in canonical form. It is a transaction `to_sign` that spends the only output of `to_spend`,
 * and `to_spend` holds the message and spends an output that does not exist. So no message is ever
 * a payment.
 */
export function signedMessage(intent: MessageIntent): SignedMessage | null {
  const { chain, from, format, message, foreignChainId, droppedKeys } = intent;
  if (foreignChainId !== undefined || droppedKeys !== undefined) return null;
  const texts: readonly unknown[] = [chain, from, message];
  if (texts.some((text) => typeof text !== 'string') || format !== 'bip322' || !readMessage(message).ok) return null;
  const network = networkOf(chain);
  const script = network === null ? null : scriptOf(network, from);
  const lock = script === null ? null : scriptTypeOf(script);
  if (script === null || lock === null) return null;
  const toSign = virtualTransaction(script, message);
  const [sighash] = sighashesOf(toSign, script, [0n]);
  return sighash === undefined ? null : { bytes: Uint8Array.from(toSign.unsignedTx), sighash, lock };
}

/**
 * Returns `to_sign` of BIP-322, unsigned.
 *
 * @param script of the address that signs
 */
function virtualTransaction(script: Uint8Array, message: string): Transaction {
  // message_hash = SHA256 tagged "BIP0322-signed-message", scriptSig = OP_0 PUSH32[ message_hash ]
  const tag = sha256(utf8ToBytes('BIP0322-signed-message'));
  const messageHash = sha256(concatBytes(tag, tag, utf8ToBytes(message)));
  const toSpend = RawTx.encode({
    version: 0,
    segwitFlag: false,
    inputs: [
      {
        txid: new Uint8Array(32),
        index: 0xffffffff,
        finalScriptSig: concatBytes(Uint8Array.of(0, PUSH_32), messageHash),
        sequence: 0,
      },
    ],
    outputs: [{ amount: 0n, script }],
    lockTime: 0,
    witnesses: undefined,
  });
  const toSign = new Transaction({ version: 0, lockTime: 0, allowUnknownOutputs: true });
  const txid = sha256(sha256(Uint8Array.from(toSpend))).toReversed();
  toSign.addInput({ txid, index: 0, sequence: 0, witnessUtxo: { script, amount: 0n } });
  toSign.addOutput({ script: Uint8Array.of(OP_RETURN), amount: 0n });
  return toSign;
}

/**
 * Returns the witness stack of `to_sign` in base64, after its variant. Refuses what `witnessOf`
 * refuses.
 */
export function messageSignature({ sighash, lock }: SignedMessage, signature: ChainSignature): Result<string, string> {
  const witness = witnessOf(lock, sighash, signature);
  if (!witness.ok) return witness;
  const items = witness.value.flatMap((item) => [Uint8Array.of(item.length), item]);
  const stack = Buffer.from(concatBytes(Uint8Array.of(witness.value.length), ...items));
  return accepted(`${SIMPLE_VARIANT}${stack.toString('base64')}`);
}
