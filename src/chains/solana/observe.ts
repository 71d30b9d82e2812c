import { hexToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import type { Observation, Watched } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/fleet.ts';
import { unfit } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { storedNonce } from '#chains/solana/accounts.ts';
import { readLanded } from '#chains/solana/activity.ts';
import { isPublicKey } from '#chains/solana/address.ts';
import type { Status } from '#chains/solana/question.ts';
import { askAccounts, askBlockOf, askHeight, askStatuses } from '#chains/solana/question.ts';
import type { Anchor } from '#chains/solana/terms.ts';
import { nonceAccountOf } from '#chains/solana/terms.ts';
import { termsIn } from '#chains/solana/transaction.ts';
import type { Chain } from '#domain/chain.ts';
import { movementsOf } from '#domain/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Where the attempts of a transaction are, as one node sees it. `lapsed` when the newest one can not be carried out any more and nothing
 * else has been in its place; `absent` with the nonce taken when something else has.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: Watched,
): Promise<Result<Observation, Trouble>> {
  const statuses = await statusesOf(node, watched.hashes);
  if (!statuses.ok) return statuses;
  const found = statuses.value.find(({ status }) => !status.failed) ?? statuses.value[0];
  if (found === undefined) return observeAbsence(node, watched);
  const { hash, status } = found;
  if (status.failed && statuses.value.length < watched.hashes.length) {
    const isLast = await isLastWord(node, watched);
    if (!isLast.ok) return isLast;
    if (!isLast.value) return accepted({ type: 'absent', inMempool: true, nonceTaken: false });
  }
  // A fork may still lose it: it is neither here nor gone.
  if (status.commitment === 'processed') return accepted({ type: 'absent', inMempool: true, nonceTaken: false });
  const landed = await readLanded(node, chain, { hash, status });
  if (!landed.ok) return landed;
  const { block, error, fee, movements } = landed.value;
  return accepted({
    type: 'included',
    inclusion: {
      hash,
      blockNumber: block.number,
      blockHash: block.hash,
      succeeded: error === null,
      feePaid: fee,
      confirmations: block.confirmations,
      finalized: block.isFinal,
      failure: error,
      ...movementsOf(watched.from, movements, chain),
    },
  });
}

interface Found {
  readonly hash: string;
  readonly status: Status;
}

/** Of those that were carried out, be it in vain; at most one has succeeded. */
async function statusesOf(node: RpcNode, hashes: readonly string[]): Promise<Result<readonly Found[], Trouble>> {
  const statuses = await node.ask(askStatuses(hashes));
  if (!statuses.ok) return statuses;
  return accepted(
    statuses.value.flatMap((status, i) => {
      const hash = hashes[i];
      return status === null || hash === undefined ? [] : [{ hash, status }];
    }),
  );
}

/**
 * Whether after one that failed no other attempt can succeed any more. With a durable nonce it has used up what all hang on. One that opens
 * its account has opened nothing by failing: until their blockhashes are too old the others can still be carried out.
 */
async function isLastWord(node: RpcNode, { from, newest }: Watched): Promise<Result<boolean, Trouble>> {
  if (anchorOf(from, newest).kind === 'nonce') return accepted(true);
  const height = await node.ask(askHeight('finalized'));
  if (!height.ok) return height;
  return accepted(newest.validUntil !== null && height.value > BigInt(newest.validUntil));
}

function anchorOf(from: string, { payload }: Watched['newest']): Anchor {
  const terms = isPublicKey(from) ? termsIn(hexToBytes(payload.slice(2)), from) : null;
  if (terms === null) throw new Error('a stored payload can be read');
  return terms.anchor;
}

async function observeAbsence(node: RpcNode, watched: Watched): Promise<Result<Observation, Trouble>> {
  const { from, inclusion, newest } = watched;
  if (!isPublicKey(from)) throw new Error('a stored intent is in canonical form');
  if (inclusion !== null) {
    const block = await node.ask(askBlockOf(BigInt(inclusion.blockNumber)));
    if (!block.ok) return block;
    if (block.value === inclusion.blockHash) return unfit('the node has the recorded block, but not the transaction');
  }
  const fate = await fateOf(node, from, { anchor: anchorOf(from, newest), validUntil: newest.validUntil });
  if (!fate.ok) return fate;
  if (fate.value === 'waiting') return accepted({ type: 'absent', inMempool: false, nonceTaken: false });
  // It may have been carried out just now, between the two questions.
  const again = await statusesOf(node, watched.hashes);
  if (!again.ok) return again;
  if (again.value.length > 0) return unfit('the transaction came only now');
  return accepted(
    fate.value === 'lapsed' ? { type: 'lapsed' } : { type: 'absent', inMempool: false, nonceTaken: true },
  );
}

/** Believed only where no fork can change it: it ends the attempt, or the transaction. */
async function fateOf(
  node: RpcNode,
  wallet: Address,
  { anchor, validUntil }: { readonly anchor: Anchor; readonly validUntil: string | null },
): Promise<Result<'waiting' | 'lapsed' | 'taken', Trouble>> {
  // The height first: an account that is not there afterwards was not there at that height.
  const height = anchor.kind === 'opening' ? await node.ask(askHeight('finalized')) : null;
  if (height !== null && !height.ok) return height;
  const accounts = await node.ask(askAccounts([nonceAccountOf(wallet, anchor.place)], 'finalized'));
  if (!accounts.ok) return accounts;
  const stored = storedNonce(accounts.value.value[0] ?? null);
  if (anchor.kind === 'nonce') {
    if (stored === null) return unfit('the node does not know the nonce account');
    return accepted(stored.value === anchor.value ? 'waiting' : 'taken');
  }
  if (stored !== null) return accepted('taken');
  const isOver = validUntil !== null && height !== null && height.value > BigInt(validUntil);
  return accepted(isOver ? 'lapsed' : 'waiting');
}
