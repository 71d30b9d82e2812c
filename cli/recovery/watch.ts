import type { ChainClient } from '#chains/chain-client.ts';
import { chainClients, chainsWithOneNode } from '#chains/clients/client-for.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { visibleText } from '#domain/visible-text.ts';
import { UsageError } from '../command-line.ts';
import { accountPayments } from './account-payments.ts';
import type { ChainAddress } from './chain-address.ts';
import { chainAddresses, chainTokens, recipientsOf } from './chain-address.ts';
import type { Job } from './job.ts';
import { JOB_VERSION, MAX_PAYMENTS } from './job.ts';
import { amountText } from './transfer.ts';
import { utxoPayments } from './utxo-payments.ts';
import type { Remainder, SweptWallet, WalletRound } from './wallet-round.ts';

/** The texts of the options, `CHAIN=ADDRESS` each. */
export interface WatchOptions {
  readonly wallet: readonly string[];
  readonly to: readonly string[];
  readonly token: readonly string[];
  readonly leave: readonly string[];
  readonly includeMayCarryMore: boolean;
}

interface Watched {
  readonly job: Job;
  /** What the job pays, what stays and why, for the person. */
  readonly lines: readonly string[];
}

/**
 * Reads the wallets of a vault, and returns the next payments that move everything out of them. It
 * has no secret. Throws `UsageError` for options that do not fit together, and any other error when
 * an RPC node does not answer: a job never leaves out a wallet for that reason.
 */
export async function watchedJob(options: WatchOptions): Promise<Watched> {
  const recipients = recipientsOf(options.to);
  const wallets = chainAddresses('--wallet', options.wallet).map((wallet) => {
    const to = recipients.get(wallet.chain.caip2);
    if (to === undefined) throw new UsageError(`No --to names an address on ${wallet.chain.name}.`);
    if (to.address === wallet.address) throw new UsageError(`--to names the wallet ${wallet.address} itself.`);
    return { wallet, to };
  });
  const names = wallets.map(({ wallet }) => `${wallet.chain.name}=${wallet.address}`);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new UsageError(`--wallet names ${repeated} twice.`);
  const [named, leave] = [chainTokens('--token', options.token), chainTokens('--leave', options.leave)];
  const unused = [...named, ...leave].find(({ chain }) => wallets.every(({ wallet }) => wallet.chain !== chain));
  if (unused !== undefined) throw new UsageError(`${unused.address} is on ${unused.chain.name}, where no --wallet is.`);
  const clientOf = configuredClients();
  const payments: Job['payments'] = [];
  const lines: string[] = [];
  const remainders: Remainder[] = [];
  for (const { wallet, to } of wallets) {
    const { chain, address: from } = wallet;
    const swept = {
      from,
      to: to.address,
      tokens: tokensOn(chain, named, leave),
      includeMayCarryMore: options.includeMayCarryMore,
    };
    const round = await roundOf(clientOf(chain), swept);
    payments.push(...round.payments);
    remainders.push(...round.remainders);
    lines.push(...linesOf(chain, from, round));
  }
  const job = { version: JOB_VERSION, payments: payments.slice(0, MAX_PAYMENTS) } as const;
  const chains = new Set(wallets.map(({ wallet }) => wallet.chain.name));
  return { job, lines: [...lines, ...conclusion(payments, remainders), ...trustedNodes(chains)] };
}

function roundOf(client: ChainClient, wallet: SweptWallet): Promise<WalletRound> {
  return client.chain.family === 'bitcoin' ? utxoPayments(client, wallet) : accountPayments(client, wallet);
}

/** Returns a line for each of these chains whose answers no second RPC node confirms. */
function trustedNodes(names: ReadonlySet<string>): readonly string[] {
  const alone = chainsWithOneNode({ RPC_URLS: process.env['RPC_URLS'] ?? '{}' }).filter((name) => names.has(name));
  return alone.map((name) => `${name} has one RPC node, which alone decides what is left.`);
}

/** Returns the clients of the chains by the settings RPC_URLS and CHAINS of the service. */
export function configuredClients(): (chain: Chain) => ChainClient {
  const { RPC_URLS } = process.env;
  if (RPC_URLS === undefined) throw new UsageError('Set RPC_URLS, and CHAINS where the service had it.');
  const clientOf = chainClients({ RPC_URLS });
  return (chain) => {
    const client = clientOf(chain);
    if (client === null) throw new UsageError(`RPC_URLS names no RPC node of ${chain.name}.`);
    return client;
  };
}

function tokensOn(chain: Chain, named: readonly ChainAddress[], leave: readonly ChainAddress[]): readonly string[] {
  const on = (tokens: readonly ChainAddress[]) => tokens.filter((one) => one.chain === chain).map((one) => one.address);
  const excluded = new Set(on(leave));
  const all = [...new Set([...chain.tokens.map(({ address }) => address), ...on(named)])];
  return all.filter((token) => !excluded.has(token));
}

function linesOf(chain: Chain, from: string, { payments, remainders }: WalletRound): readonly string[] {
  const of = (tokenAddress: string | null, units: bigint | null) =>
    units === null ? (tokenAddress ?? chain.nativeSymbol) : amountText(chain, tokenAddress, units);
  const stays = ({ tokenAddress, units, reason, isOpen }: Remainder) =>
    // A reason may contain the text of an RPC node or of a contract.
    visibleText(`  ${isOpen ? 'open' : 'stays'}: ${of(tokenAddress, units)}: ${reason}`);
  const rents = 'the rents of nonce accounts and token accounts, which this command does not close';
  return [
    `${chain.name} ${from}`,
    ...payments.map(({ tokenAddress, amount, to }) => `  moves: ${of(tokenAddress, BigInt(amount))} to ${to}`),
    ...remainders.map(stays),
    ...(chain.family === 'solana' ? [`  stays: ${rents}`] : []),
  ];
}

function conclusion(payments: Job['payments'], remainders: readonly Remainder[]): readonly string[] {
  if (payments.length === 0 && remainders.every(({ isOpen }) => !isOpen)) {
    const stays = 'What is marked as stays is still in the wallets: compare it with what you expect.';
    return ['Nothing is left to move.', ...(remainders.length === 0 ? [] : [stays])];
  }
  if (payments.length === 0) return ['No payment is possible now. What is marked as open may move later.'];
  const isShort = payments.some(({ validUntil }) => validUntil !== null);
  const short =
    'A payment of this job opens a nonce account, and its blockhash is valid for about a minute: sign and send it ' +
    'within that time. The payments of the next round do not expire.';
  return [...(isShort ? [short] : []), 'Sign this job, send it, and repeat this command until nothing is left.'];
}
