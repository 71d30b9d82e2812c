import type { Transaction } from '#dashboard/api.ts';
import { unitsText } from '#dashboard/money.ts';
import { abbreviated, timeText } from '#dashboard/text.ts';

/** Shows an address, hash or id abbreviated. The whole value is in the tooltip and in a copy. */
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

/** Shows an amount. When the decimals are unknown, the amount is in the smallest unit. */
export function Amount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  const { symbol = null, decimals = null, tokenAddress = null } = asset ?? {};
  const name = symbol ?? (tokenAddress === null ? '' : abbreviated(tokenAddress));
  return (
    <span class="amount" title={`${amount} in the smallest unit`}>
      {decimals === null ? `${amount} units` : unitsText(amount, decimals)} {name}
    </span>
  );
}

/**
 * Shows a fee or the value of a call, in the native asset. The decimals are known when the
 * transaction pays the native asset too.
 */
export function NativeAmount({ amount, transaction }: { readonly amount: string; readonly transaction: Transaction }) {
  const { asset } = transaction;
  return <Amount amount={amount} asset={asset?.tokenAddress === null ? asset : null} />;
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

/** The name of each state on every page. */
export const STATE_NAMES = {
  DRAFT: 'Draft',
  SUBMITTED: 'Pending approval',
  SIGNING: 'Signing',
  BROADCAST: 'Broadcast',
  CONFIRMING: 'Confirming',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  REJECTED: 'Rejected',
  CANCELLED: 'Cancelled',
  EXPIRED: 'Expired',
} as const satisfies Readonly<Record<Transaction['state'], string>>;

export function State({ state }: Pick<Transaction, 'state'>) {
  return <span class={`state ${TONES[state] ?? 'moving'}`}>{STATE_NAMES[state]}</span>;
}

/** Shows an address with its name from the address book. */
function Party({ address, knownAs }: { readonly address: string } & Pick<Transaction, 'knownAs'>) {
  const contact = knownAs.find((one) => one.address === address);
  if (contact === undefined) return <Hash value={address} />;
  return (
    <>
      {contact.name} (<Hash value={address} />)
    </>
  );
}

/** Shows what a transaction does, in a few words. */
export function Subject({ transaction }: { readonly transaction: Transaction }) {
  const { kind, amount, asset, to, from, spender, direction, knownAs } = transaction;
  if (kind === 'message') return <>Sign a message</>;
  if (kind === 'activity') return <Movements transaction={transaction} />;
  const target = spender ?? to;
  return (
    <>
      {kind === 'transfer' ? 'Send' : kind === 'erc20-approve' ? 'Allow' : 'Call'}{' '}
      {amount !== null && <Amount amount={amount} asset={asset} />} {direction === 'out' ? 'to' : 'from'}{' '}
      <Party address={(direction === 'out' ? target : from) ?? ''} knownAs={knownAs} />
    </>
  );
}

function Movements({ transaction }: { readonly transaction: Transaction }) {
  const { balanceChanges, from, direction } = transaction;
  return (
    <>
      {balanceChanges.map(({ amount, asset, tokenId }) => (
        <span key={`${asset.tokenAddress} ${tokenId}`}>
          {amount.startsWith('-') ? 'Sent ' : 'Received '}
          <Amount amount={amount.replace('-', '')} asset={asset} />{' '}
        </span>
      ))}
      {balanceChanges.length === 0 && 'Activity '}
      {direction === 'in' ? 'from' : 'by'} {from === null ? 'the chain itself' : <Hash value={from} />}
    </>
  );
}

/** Shows the warnings of a transaction. */
export function Warnings({ warnings }: Pick<Transaction, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <ul class="problem" role="alert">
      {warnings.map(({ code, detail }) => (
        <li key={`${code} ${detail}`}>{detail}</li>
      ))}
    </ul>
  );
}
