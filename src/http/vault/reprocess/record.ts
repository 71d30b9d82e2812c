import * as z from 'zod';
import { findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { ScanCounts, ScanCoverage, ScanReport } from '#store/scan-reports.ts';
import { WALLET_SCAN_STATES } from '#store/scan-reports.ts';

const blockNumber = z.string().meta({ description: 'Number of a block, or of a slot on Solana' });
const range = { fromBlock: blockNumber, toBlock: blockNumber };

const count = (description: string) => z.int().nullable().meta({ description });

const walletSchema = z.strictObject({
  chain: z.string(),
  address: z.string(),
  state: z.enum(WALLET_SCAN_STATES).meta({
    description:
      'waiting: the blocks are not read yet. recording: transactions are still to be recorded. ' +
      'failed: given up after a day; request it again. not-scanned: the chain has no RPC node.',
  }),
  scanned: z
    .strictObject(range)
    .nullable()
    .meta({ description: 'The blocks that the scan had to read, both ends included; null until they are read' }),
  notCovered: z
    .array(z.strictObject({ assets: z.enum(['all', 'native', 'tokens']), ...range }))
    .meta({ description: 'Ranges of the scanned blocks in which payments of these assets were not read' }),
  incompleteBlocks: count('Blocks that the RPC node did not show completely: payments in them may be missing'),
  found: count('Transactions of the wallet in the blocks; this and the other counts are null until they are read'),
  known: count('Those of `found` that the vault had when the blocks were read'),
  new: count('Those of `found` that the vault did not have then and has now, also if a monitor reported them since'),
  unrecorded: count('Those of `found` that have ended without a record: spam above a limit, or without a movement'),
  pending: count('Those of `found` that are still to be recorded'),
});

export const reportSchema = z
  .strictObject({
    id: z.string(),
    requestedAt: z.iso.datetime().meta({ description: 'The minute of the request' }),
    state: z
      .enum(['open', 'done', 'failed'])
      .meta({ description: 'open: a wallet is waiting or recording. failed: none is, and one was given up.' }),
    wallets: z.array(walletSchema),
  })
  .meta({ id: 'ReprocessReport' });

type Wallet = z.infer<typeof walletSchema>;

/** Returns the id of a report in its vault. */
export function reportIdOf(reportAtMs: number): string {
  return String(reportAtMs);
}

/** Returns a report as clients read it. */
export function reportRecord(
  { reportAtMs, wallets }: ScanReport,
  chains: readonly Chain[],
): z.infer<typeof reportSchema> {
  const isOpen = wallets.some(({ state }) => state === 'waiting' || state === 'recording');
  const isFailed = wallets.some(({ state }) => state === 'failed');
  return {
    id: reportIdOf(reportAtMs),
    requestedAt: rfc3339(reportAtMs),
    state: isOpen ? 'open' : isFailed ? 'failed' : 'done',
    wallets: wallets.map(({ chain, address, state, counts }) => ({
      chain: findChain(chains, chain)?.name ?? chain,
      address,
      state,
      ...countsOf(counts),
    })),
  };
}

function countsOf(counts: ScanCounts | null): Omit<Wallet, 'chain' | 'address' | 'state'> {
  if (counts === null) {
    const numbers = { found: null, known: null, new: null, unrecorded: null, pending: null };
    return { scanned: null, notCovered: [], incompleteBlocks: null, ...numbers };
  }
  const { coverage, found, known, added, unrecorded } = counts;
  const numbers = { found, known, new: added, unrecorded, pending: found - known - added - unrecorded };
  const notCovered = notCoveredIn(coverage);
  return { scanned: coverage.requested, notCovered, incompleteBlocks: coverage.untraced, ...numbers };
}

type Blocks = ScanCoverage['requested'];

/** Returns the requested blocks that a scan did not read, by the assets. */
function notCoveredIn({ requested, tokens, payments }: ScanCoverage): Wallet['notCovered'] {
  const isOne = tokens.fromBlock === payments.fromBlock && tokens.toBlock === payments.toBlock;
  const gapsOf = (assets: 'all' | 'native' | 'tokens', read: Blocks) =>
    gaps(requested, read).map((gap) => ({ assets, ...gap }));
  return isOne ? gapsOf('all', payments) : [...gapsOf('native', payments), ...gapsOf('tokens', tokens)];
}

/** Returns the blocks of a range before and after those that were read. */
function gaps(requested: Blocks, read: Blocks): readonly Blocks[] {
  const [first, last] = [BigInt(requested.fromBlock), BigInt(requested.toBlock)];
  const [from, to] = [BigInt(read.fromBlock), BigInt(read.toBlock)];
  const before = { from: first, to: from - 1n < last ? from - 1n : last };
  const after = { from: to + 1n > first ? to + 1n : first, to: last };
  // Nothing was read when the range is empty: then the first gap is all of it.
  const both = from > to ? [{ from: first, to: last }] : [before, after];
  return both
    .filter((gap) => gap.from <= gap.to)
    .map((gap) => ({ fromBlock: gap.from.toString(), toBlock: gap.to.toString() }));
}
