import type { AccountNonce, ChainAdapter, ChainFault, Observation, PreparationFault } from '#chains/chain-adapter.ts';
import { addressOfPublicKey, parseAddress } from '#chains/evm/address.ts';
import { assembleTransfer } from '#chains/evm/assemble.ts';
import { broadcastSigned } from '#chains/evm/broadcast.ts';
import { composeTransfer } from '#chains/evm/compose.ts';
import type { PermanentFault } from '#chains/evm/dry-run.ts';
import type { Fleet, Trouble } from '#chains/evm/fleet.ts';
import { onFirstFitNode } from '#chains/evm/fleet.ts';
import { connect } from '#chains/evm/node.ts';
import type { EvmNode } from '#chains/evm/node.ts';
import { observeTransfer } from '#chains/evm/observe.ts';
import { askNonce } from '#chains/evm/question.ts';
import { quoteTransfer } from '#chains/evm/quote.ts';
import { UINT256_MAX } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Any EVM chain with EIP-1559 fees, behind the interface that all chains share. */
export function evmAdapter(chain: Chain, rpcUrls: readonly string[]): ChainAdapter {
  const fleet: Fleet = { chainId: BigInt(chain.chainId), nodes: rpcUrls.map((url) => connect(url)) };
  return {
    chain,
    largestAmount: UINT256_MAX,
    addressOf: addressOfPublicKey,
    parseRecipient: parseAddress,
    parseToken: parseAddress,
    compose: composeTransfer,
    assemble: assembleTransfer,
    quote: async (intent, replaced) =>
      preparation(await onFirstFitNode(fleet, (node) => quoteTransfer(node, intent, replaced))),
    accountNonce: async (address) =>
      looked(await onFirstFitNode<AccountNonce, never>(fleet, (node) => accountNonce(node, address))),
    broadcast: (raw, hash) => broadcastSigned(fleet, raw, hash),
    observe: async (watched) =>
      looked(await onFirstFitNode<Observation, never>(fleet, (node) => observeTransfer(node, chain, watched))),
  };
}

async function accountNonce(node: EvmNode, address: string) {
  const [latest, pending] = await Promise.all([
    node.ask(askNonce(address, 'latest')),
    node.ask(askNonce(address, 'pending')),
  ]);
  if (!latest.ok) return latest;
  return pending.ok ? accepted({ latest: latest.value, pending: pending.value }) : pending;
}

function preparation<T>(result: Result<T, PermanentFault | Trouble>): Result<T, PreparationFault> {
  if (result.ok) return result;
  const { refusal } = result;
  return refused(refusal.kind === 'permanent' ? refusal : { kind: 'transient', detail: refusal.detail });
}

function looked<T>(result: Result<T, Trouble>): Result<T, ChainFault> {
  return result.ok ? result : refused({ detail: result.refusal.detail });
}
