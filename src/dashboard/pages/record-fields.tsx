import type { Transaction } from '#dashboard/api.ts';
import { Amount, HeadingAmount } from '#dashboard/amounts/amount.tsx';
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

/**
 * Shows what a transaction does, in a few words.
 *
 * @param isHeading true where no text may stand that the contract of a token claims
 */
export function Subject(props: { readonly transaction: Transaction; readonly isHeading?: boolean }) {
  const { transaction, isHeading = false } = props;
  const { kind, amount, asset, to, from, spender, direction, knownAs } = transaction;
  const Shown = isHeading ? HeadingAmount : Amount;
  if (kind === 'message') return <>Sign a message</>;
  if (kind === 'activity') return <Movements transaction={transaction} Shown={Shown} />;
  const target = spender ?? to;
  return (
    <>
      {kind === 'transfer' ? 'Send' : kind === 'erc20-approve' ? 'Allow' : 'Call'}{' '}
      {amount !== null && <Shown amount={amount} asset={asset} />} {direction === 'out' ? 'to' : 'from'}{' '}
      <Party address={(direction === 'out' ? target : from) ?? ''} knownAs={knownAs} />
    </>
  );
}

function Movements(props: { readonly transaction: Transaction; readonly Shown: typeof Amount }) {
  const { transaction, Shown } = props;
  const { balanceChanges, from, direction } = transaction;
  return (
    <>
      {balanceChanges.map(({ amount, asset, tokenId }) => (
        <span key={`${asset.tokenAddress} ${tokenId}`}>
          {amount.startsWith('-') ? 'Sent ' : 'Received '}
          <Shown amount={amount.replace('-', '')} asset={asset} />
          {tokenId !== null && `, token ID ${tokenId}`}{' '}
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
    <div class="problem" role="alert">
      <ul>
        {warnings.map(({ code, detail }) => (
          <li key={`${code} ${detail}`}>{detail}</li>
        ))}
      </ul>
    </div>
  );
}
