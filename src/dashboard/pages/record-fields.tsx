import type { Transaction } from '#dashboard/api.ts';
import { abbreviated, timeText, unitsText } from '#dashboard/format.ts';

/** An address, hash or id: short to look at, whole to hover over, select and copy. */
export function Hash({ value }: { readonly value: string }) {
  return (
    <code class="hash" title={value}>
      {abbreviated(value)}
    </code>
  );
}

export function Time({ iso }: { readonly iso: string }) {
  return (
    <time dateTime={iso} title={iso}>
      {timeText(iso)}
    </time>
  );
}

interface Asset {
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly tokenAddress: string | null;
}

/** Without decimals nobody knows where the point is: then it is said in the smallest unit. */
export function Amount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  const { symbol = null, decimals = null, tokenAddress = null } = asset ?? {};
  const name = symbol ?? (tokenAddress === null ? '' : abbreviated(tokenAddress));
  return (
    <span class="amount" title={`${amount} of the smallest unit`}>
      {decimals === null ? `${amount} units` : unitsText(amount, decimals)} {name}
    </span>
  );
}

const TONES: Readonly<Record<string, string>> = {
  SUCCEEDED: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  CANCELLED: 'bad',
  EXPIRED: 'bad',
  DRAFT: 'waiting',
  SUBMITTED: 'waiting',
};

export function State({ state }: Pick<Transaction, 'state'>) {
  return <span class={`state ${TONES[state] ?? 'moving'}`}>{state.toLowerCase()}</span>;
}

/** What it is about, in few words. */
export function Subject({ transaction }: { readonly transaction: Transaction }) {
  const { kind, amount, asset, to, from, spender, direction } = transaction;
  if (kind === 'message') return <>Message to sign</>;
  if (kind === 'activity') return <Movements transaction={transaction} />;
  const target = spender ?? to;
  return (
    <>
      {kind === 'transfer' ? 'Send' : kind === 'erc20-approve' ? 'Allow' : 'Call'}{' '}
      {amount !== null && <Amount amount={amount} asset={asset} />} {direction === 'out' ? 'to' : 'from'}{' '}
      <Hash value={(direction === 'out' ? target : from) ?? ''} />
    </>
  );
}

function Movements({ transaction }: { readonly transaction: Transaction }) {
  const { balanceChanges, from } = transaction;
  return (
    <>
      {balanceChanges.map(({ amount, asset, tokenId }) => (
        <span key={`${asset.tokenAddress} ${tokenId}`}>
          {amount.startsWith('-') ? 'Sent ' : 'Received '}
          <Amount amount={amount.replace('-', '')} asset={asset} />{' '}
        </span>
      ))}
      {balanceChanges.length === 0 && 'Activity '}
      by <Hash value={from} />
    </>
  );
}
