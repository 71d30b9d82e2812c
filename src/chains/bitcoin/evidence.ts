import { equalBytes } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import type { BitcoinPayload } from '#chains/bitcoin/payload.ts';
import { lockOf } from '#chains/bitcoin/lock.ts';
import { askRaw } from '#chains/bitcoin/question.ts';
import { coinsIn, ownScriptIn } from '#chains/bitcoin/transaction.ts';
import type { Trouble } from '#chains/fleet.ts';
import { unfit } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Whether the coins of a payload are worth what it says. A signature by BIP-341 covers the worth of every coin, so one over a wrong worth is
 * none. One by BIP-143 covers that of its own coin alone: two sessions with two lies would give two signatures that fit together, and what
 * both lied about would go to the miner. So each coin is shown with the whole transaction that made it, which its name is a hash of.
 *
 * @param previous transactions without their witnesses, in hex
 */
export function isWorthProven({ payment, terms }: BitcoinPayload, previous: readonly string[]): boolean {
  if (lockOf(payment.own)?.type === 'p2tr') return true;
  const shown = new Map(previous.flatMap((raw) => madeBy(raw) ?? []));
  return terms.coins.every(({ txid, vout, amount }) => {
    const output = shown.get(txid)?.[vout];
    return output !== undefined && output.amount === amount && equalBytes(output.script, payment.own);
  });
}

interface Output {
  readonly amount: bigint;
  readonly script: Uint8Array;
}

/** The name of a transaction and its outputs; null for what is none in its one encoding. */
function madeBy(raw: string): readonly [readonly [string, readonly Output[]]] | null {
  try {
    const { outputs } = RawTx.decode(hexToBytes(raw));
    if (withoutWitness(raw) !== raw) return null;
    const made = outputs.map(({ amount, script }) => ({ amount, script: Uint8Array.from(script) }));
    return [[nameOf(raw), made]];
  } catch {
    // btc-signer throws for everything that is not the encoding of something.
    return null;
  }
}

/** As its hash has it: the last byte first. */
function nameOf(stripped: string): string {
  return bytesToHex(sha256(sha256(hexToBytes(stripped))).toReversed());
}

function withoutWitness(raw: string): string {
  const { witnesses: _, ...rest } = RawTx.decode(hexToBytes(raw));
  return bytesToHex(Uint8Array.from(RawTx.encode({ ...rest, segwitFlag: false, witnesses: undefined })));
}

/** Whether the coins of a stored payload are those of an ECDSA key. */
export function paysByHash(payload: string): boolean {
  return lockOf(ownScriptIn(hexToBytes(payload.slice(2))))?.type === 'p2wpkh';
}

/** What `isWorthProven` wants to see of a stored payload. */
export async function readEvidence(node: RpcNode, payload: string): Promise<Result<readonly string[], Trouble>> {
  const names = new Set(coinsIn(hexToBytes(payload.slice(2))).map(({ txid }) => txid));
  const previous: string[] = [];
  for (const name of names) {
    const raw = await node.ask(askRaw(name));
    if (!raw.ok) return raw;
    const stripped = raw.value === null ? null : strippedOf(raw.value);
    if (stripped === null || nameOf(stripped) !== name) return unfit('the node lacks the transaction of a coin');
    previous.push(stripped);
  }
  return accepted(previous);
}

function strippedOf(raw: string): string | null {
  try {
    return withoutWitness(raw);
  } catch {
    return null;
  }
}
