import type { FalseNode, Rule } from '../../false-node.ts';

/** A transaction of a block with its receipt, as an RPC node returns them. */
interface Mined {
  readonly transaction: Readonly<Record<string, unknown>> & { readonly hash: string };
  readonly receipt: object;
  readonly trace?: object;
}

const CHAIN_ID = '0x7a69';

/**
 * Returns the answer of a node whose newest block has these transactions; null for a call that the
 * test answers itself.
 */
export function plainAnswer(mined: readonly Mined[], method: string, params: readonly unknown[]): unknown {
  const [first] = mined;
  if (first === undefined) throw new Error('a block needs a transaction');
  const { blockNumber: number, blockHash } = first.transaction;
  const own = mined.find(({ transaction }) => transaction.hash === params[0]);
  switch (method) {
    case 'eth_chainId':
      return CHAIN_ID;
    case 'eth_getBlockByNumber': {
      const transactions = mined.map(({ transaction }) => (params[1] === true ? transaction : transaction.hash));
      return { number, hash: blockHash, timestamp: '0x1', baseFeePerGas: '0x1', transactions };
    }
    case 'eth_getTransactionReceipt':
      return own?.receipt ?? null;
    case 'eth_getTransactionByHash':
      return own?.transaction ?? null;
    case 'debug_traceTransaction':
      return own?.trace ?? null;
    case 'eth_getTransactionCount':
      return '0x0';
    case 'eth_getLogs':
      return [];
    default:
      return null;
  }
}

/** Lets a node return a block with this transaction, except for the calls that `other` answers. */
export function showBlockOf(
  node: FalseNode,
  mined: Mined,
  other: (method: string, params: readonly unknown[]) => Rule | null = () => null,
): void {
  node.follow((method, params) => other(method, params) ?? { result: plainAnswer([mined], method, params) });
}
