import type { Address, Hex } from 'viem';
import { createClient, erc20Abi, getAddress } from 'viem';
import {
  deployContract,
  getAddresses,
  getBalance,
  getTransactionCount,
  readContract,
  sendTransaction,
  writeContract,
} from 'viem/actions';
import { anvil } from 'viem/chains';
import type { ContractFile } from './contracts/compile.ts';
import { compile } from './contracts/compile.ts';
import { minedReceipt } from './receipt.ts';
import { localTransport } from './transport.ts';

/**
 * The operations of the local programs on the chain itself, independent of the service, and their
 * checks of its results.
 */
export interface LocalChain {
  /**
   * Sends from an account that anvil funded and unlocked: anvil signs by itself, so no key is in
   * this project.
   */
  readonly fund: (to: string, wei: bigint) => Promise<void>;
  /** Returns the address of a new Demo Dollar; the given account holds the amount. */
  readonly deployDollar: (holder: string, amount: bigint) => Promise<string>;
  /** Returns the address of a new contract from `local/evm`. */
  readonly deploy: (file: ContractFile, name: string) => Promise<string>;
  readonly balance: (of: string) => Promise<bigint>;
  readonly tokenBalance: (token: string, of: string) => Promise<bigint>;
  readonly allowance: (token: string, owner: string, spender: string) => Promise<bigint>;
  /** Returns the number of transactions of an account in the chain. */
  readonly sentBy: (of: string) => Promise<number>;
  /** Returns an unlocked account of anvil by number, as a recipient. */
  readonly account: (index: number) => Promise<string>;
}

export function localChain(url: string): LocalChain {
  const client = createClient({ chain: anvil, transport: localTransport(url), pollingInterval: 20 });
  const account = async (index: number): Promise<Address> => {
    const found = (await getAddresses(client))[index];
    if (found === undefined) throw new Error(`anvil has no account ${index}`);
    return getAddress(found);
  };
  const mined = (hash: Hex) => minedReceipt(client, hash);
  const deploy = async (file: ContractFile, name: string): Promise<Address> => {
    const contract = compile(file).get(name);
    if (contract === undefined) throw new Error(`${file} has no contract ${name}`);
    const { contractAddress } = await mined(await deployContract(client, { account: await account(0), ...contract }));
    if (contractAddress == null) throw new Error(`${name} was not deployed`);
    return getAddress(contractAddress);
  };
  return {
    account,
    deploy,
    fund: async (to, value) => {
      await mined(await sendTransaction(client, { account: await account(0), to: getAddress(to), value }));
    },
    deployDollar: async (holder, amount) => {
      const owner = await account(0);
      const token = await deploy('DemoDollar.sol', 'DemoDollar');
      const args = [getAddress(holder), amount] as const;
      await mined(
        await writeContract(client, { account: owner, address: token, abi: erc20Abi, functionName: 'transfer', args }),
      );
      return token;
    },
    balance: (of) => getBalance(client, { address: getAddress(of) }),
    tokenBalance: (token, of) =>
      readContract(client, {
        address: getAddress(token),
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [getAddress(of)],
      }),
    allowance: (token, owner, spender) =>
      readContract(client, {
        address: getAddress(token),
        abi: erc20Abi,
        functionName: 'allowance',
        args: [getAddress(owner), getAddress(spender)],
      }),
    sentBy: (of) => getTransactionCount(client, { address: getAddress(of) }),
  };
}
