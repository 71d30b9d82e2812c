import { chainClientFor, chainsWithOneNode, chainsWithoutNode } from '#chains/clients/client-for.ts';
import type { RpcEntry } from '#chains/clients/rpc-urls.ts';
import { rpcEntries } from '#chains/clients/rpc-urls.ts';
import { chainsFrom } from '#chains/families/registry.ts';
import { ALERT_CODES_OF } from '#domain/operations/alert.ts';
import type { RpcNodeState } from '#domain/operations/rpc-node.ts';
import { alertsOfRpcNodes, judgedNodes } from '#domain/operations/rpc-node.ts';
import { isAlertMinute, settle } from '#jobs/operations/alerts.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readFundedChains, replaceRpcNodes } from '#store/operations/rpc-nodes.ts';
import { chainsWithWallets } from '#store/vaults.ts';

/**
 * Requests the state of every configured RPC node, stores the answers for the status, and raises
 * the alerts. Payments find a fault of a node only when they need it, and then they wait.
 */
export async function probeRpcNodes(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  const nodes = (await Promise.all(rpcEntries(env).map((entry) => statesOf(env, entry, nowMs)))).flat();
  await replaceRpcNodes(env.DB, nodes);
  const [fundedChains, used] = await Promise.all([readFundedChains(env.DB, nowMs), chainsWithWallets(env.DB)]);
  const nodelessChains = chainsWithoutNode(env, used);
  const found = alertsOfRpcNodes({ nodes, nodelessChains, singleNodeChains: chainsWithOneNode(env), fundedChains });
  await settle(env, { codes: ALERT_CODES_OF.rpcNodes, found }, nowMs);
}

/** Returns the states of the nodes of an entry; none for one that is refused, or has no chain. */
async function statesOf(
  env: CoordinatorEnv,
  { chain: name, fault }: RpcEntry,
  nowMs: number,
): Promise<readonly RpcNodeState[]> {
  if (fault !== null) {
    console.error(JSON.stringify({ event: 'rpc-probe-failed', chain: name, error: fault }));
    return [];
  }
  const chain = chainsFrom(env).find((known) => known.name === name);
  if (chain === undefined) return [];
  return judgedNodes(chain, (await chainClientFor(env, chain)?.probe()) ?? [], nowMs);
}
