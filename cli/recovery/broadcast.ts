import { setTimeout as pause } from 'node:timers/promises';
import type { BroadcastVerdict, ChainClient } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import { findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { visibleText } from '#domain/visible-text.ts';
import { knownChains } from './chain-address.ts';
import type { SignedPayment } from './job.ts';

/**
 * The end of a transaction. `failed`: a block includes it without its effect or without a proof of
 * it, or another transaction used its nonce. `absent`: no block can include it, or every node
 * refuses it.
 */
type Outcome = 'included' | 'failed' | 'absent';

interface Status {
  readonly text: string;
  /** Null while it can still be included. */
  readonly outcome: Outcome | null;
}

/**
 * Sends signed transactions until the chains have decided about each, and prints each change of
 * state with the hash. Returns whether all are included and have succeeded. A second run sends the
 * same bytes, which a chain executes once. Throws for a chain that is not configured, before
 * anything is sent.
 */
export async function broadcastAll(
  transactions: readonly SignedPayment[],
  clientOf: (chain: Chain) => ChainClient,
): Promise<boolean> {
  const sent = transactions.map((transaction) => {
    const chain = findChain(knownChains(), transaction.chain);
    if (chain === null) throw new Error(visibleText(`${transaction.chain} is no known chain.`));
    return { transaction, client: clientOf(chain) };
  });
  // One after the other, in the order of the job: an account nonce follows the one before.
  for (const { transaction, client } of sent) {
    const verdict = await client.broadcast(transaction.raw, transaction.hash);
    print(client, transaction, verdictText(verdict));
  }
  const outcomes: Outcome[] = [];
  const blocked = new Set<string>();
  for (const { transaction, client } of sent) {
    const account = `${transaction.chain} ${transaction.from}`;
    const isBlocked = blocked.has(account);
    if (isBlocked) print(client, transaction, 'waits for an account nonce that no transaction uses');
    const outcome = isBlocked ? 'absent' : await outcomeOf(client, transaction);
    if (outcome === 'absent' && client.rules.ordering.by === 'account-nonce') blocked.add(account);
    outcomes.push(outcome);
  }
  return outcomes.every((outcome) => outcome === 'included');
}

/** Observes a transaction until its outcome is known, and sends it again while a node lacks it. */
async function outcomeOf(client: ChainClient, transaction: SignedPayment): Promise<Outcome> {
  let shown = '';
  for (;;) {
    const observation = await client.observe(watchedOf(transaction));
    const status: Status = observation.ok
      ? statusOf(observation.value)
      : { text: `not observed: ${observation.refusal.detail}`, outcome: null };
    if (status.text !== shown) print(client, transaction, status.text);
    shown = status.text;
    if (status.outcome !== null) return status.outcome;
    if (observation.ok && isLacking(observation.value)) {
      const verdict = await client.broadcast(transaction.raw, transaction.hash);
      // Every node refuses the bytes, and none can have them.
      if (verdict.outcome === 'refused' || verdict.outcome === 'underpriced') {
        print(client, transaction, verdictText(verdict));
        return 'absent';
      }
    }
    await pause(client.chain.pollIntervalMs);
  }
}

/** Reports whether no node has a transaction, or one has the block of another without it. */
function isLacking(seen: Observation): boolean {
  if (seen.type === 'included') return seen.inclusion.secondNode === 'disagrees';
  return seen.type === 'absent' && !seen.inMempool;
}

function watchedOf(transaction: SignedPayment) {
  const { from, to, tokenAddress, amount, nonce, payload, validUntil, anchoredAt, coinParents, hash } = transaction;
  const payment = tokenAddress === null ? null : { tokenAddress, to, amount, hashes: [hash] };
  return {
    from,
    nonce: BigInt(nonce),
    hashes: [hash],
    newest: { payload, validUntil, ...(anchoredAt === undefined ? {} : { anchoredAt }) },
    ...(coinParents === undefined ? {} : { coinParents }),
    inclusion: null,
    ...(payment === null ? {} : { tokenPayment: payment }),
  };
}

function statusOf(seen: Observation): Status {
  if (seen.type === 'lapsed') return { text: 'expired before a block included it', outcome: 'absent' };
  if (seen.type === 'included') {
    const { succeeded, failure, blockNumber, tokenTransfer, secondNode = 'agrees' } = seen.inclusion;
    // One of several nodes can state any block and any result.
    if (secondNode !== 'agrees') return { text: `in block ${blockNumber} by one RPC node alone`, outcome: null };
    if (!succeeded) return { text: `failed in block ${blockNumber}: ${failure ?? 'no reason'}`, outcome: 'failed' };
    if (tokenTransfer === 'unmoved')
      return { text: `in block ${blockNumber}, but the token did not move`, outcome: 'failed' };
    if (tokenTransfer === 'unproven')
      return { text: `in block ${blockNumber}, but nothing proves that the token moved`, outcome: 'failed' };
    return { text: `included in block ${blockNumber}`, outcome: 'included' };
  }
  if (seen.nonceTaken)
    return {
      text: `another transaction used its nonce or a UTXO: ${(seen.takenBy ?? []).join(', ')}`,
      outcome: 'failed',
    };
  if (seen.isUnexplained === true)
    return { text: 'its nonce or a UTXO is used, and no node shows by which transaction', outcome: null };
  return { text: seen.inMempool ? 'in the mempool' : 'not shown by any node yet', outcome: null };
}

function verdictText(verdict: BroadcastVerdict): string {
  return verdict.outcome === 'accepted' ? 'accepted' : `${verdict.outcome}: ${verdict.answer}`;
}

function print({ chain }: ChainClient, { hash }: SignedPayment, text: string): void {
  // The text of an RPC node.
  console.log(visibleText(`${chain.name} ${hash} ${text}`));
}
