import type { Address, Hex } from 'viem';
import { getAddress } from 'viem';
import { evmClient } from '#chains/evm/chain-client.ts';
import { evmRules } from '#chains/evm/rules/chain-rules.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ContractFile } from '#local/evm/contracts/compile.ts';
import { compile, compileDemoDollar } from '#local/evm/contracts/compile.ts';
import { startAnvil } from '#local/evm/anvil.ts';
import { anvilClient } from './anvil-client.ts';
import { present } from './cast.ts';

const ODD_TOKENS = [
  'SilentToken',
  'FalseToken',
  'BlockingToken',
  'WordlessToken',
  'SwitchedToken',
  'ResettingToken',
] as const;
export type OddToken = (typeof ODD_TOKENS)[number];

/**
 * The fields of a signed transaction that tests set; the others are those of an EIP-1559
 * transaction on anvil.
 */
export interface TransactionOptions {
  readonly from: Address;
  readonly to: Address;
  readonly nonce: number;
  readonly value?: bigint;
  readonly data?: Hex;
  readonly gas?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
}

export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>;

/**
 * A real chain with ten funded accounts. They are anvil's own unlocked accounts: anvil signs for
 * them, and no key is in these tests.
 */
export async function startLocalChain() {
  const { url, stop } = await startAnvil();
  const client = anvilClient(url);
  const accounts = (await client.getAddresses()).map((address) => getAddress(address));
  return {
    url,
    stop,
    client,
    mined: client.mined,
    account: (index: number): Address => present(accounts[index]),
    chainClient: (differences: Partial<Chain> = {}) => evmClient(evmRules(anvilChain(differences)), [url]),
    sign: (options: TransactionOptions): Promise<Hex> => {
      const fees = { gas: 21_000n, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      const { from, ...rest } = options;
      return client.signTransaction({ account: from, type: 'eip1559', ...fees, ...rest });
    },
    deployDollar: async (owner: Address): Promise<Address> => {
      const { abi, bytecode } = compileDemoDollar();
      const receipt = await client.mined(await client.deployContract({ account: owner, abi, bytecode }));
      return getAddress(present(receipt.contractAddress));
    },
    /** Deploys one contract, with arguments of its constructor. */
    deploy: async (file: ContractFile, name: string, args: readonly unknown[] = []): Promise<Address> => {
      const { abi, bytecode } = present(compile(file).get(name));
      const account = present(accounts[9]);
      const receipt = await client.mined(await client.deployContract({ account, abi, bytecode, args }));
      return getAddress(present(receipt.contractAddress));
    },
    deployOddTokens: async (owner: Address): Promise<Record<OddToken, Address>> => {
      const compiled = compile('OddTokens.sol');
      const deployed: Partial<Record<OddToken, Address>> = {};
      for (const name of ODD_TOKENS) {
        const { abi, bytecode } = present(compiled.get(name));
        const receipt = await client.mined(await client.deployContract({ account: owner, abi, bytecode }));
        deployed[name] = getAddress(present(receipt.contractAddress));
      }
      const { SilentToken, FalseToken, BlockingToken, WordlessToken, SwitchedToken, ResettingToken } = deployed;
      return {
        SilentToken: present(SilentToken),
        FalseToken: present(FalseToken),
        BlockingToken: present(BlockingToken),
        WordlessToken: present(WordlessToken),
        SwitchedToken: present(SwitchedToken),
        ResettingToken: present(ResettingToken),
      };
    },
    /** Replaces the newest blocks by the same number of empty blocks. */
    reorganise: (depth: number): Promise<unknown> => request(url, 'anvil_reorg', [depth, []]),
  };
}

export function anvilChain(differences: Partial<Chain> = {}): Chain {
  return { ...present(findChain(chainsFrom({}), 'anvil')), ...differences };
}

export async function request(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer: { result?: unknown; error?: { message: string } } = JSON.parse(await response.text());
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
