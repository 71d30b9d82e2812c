import type { Transaction } from '#dashboard/api.ts';
import { Amount, HeadingAmount } from '#dashboard/amounts/amount.tsx';
import { abbreviated } from '#dashboard/text.ts';
import { timeText } from '#dashboard/times.ts';

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

type Parties = Pick<Transaction, 'knownAs' | 'balanceChanges' | 'kind' | 'from'>;

function contactOf(address: string, { knownAs }: Parties): string | null {
  return knownAs.find((one) => one.address === address)?.name ?? null;
}

/** The contract of an unlisted token can name any address as the sender of its tokens. */
function isSenderClaimed(address: string, { kind, from, balanceChanges }: Parties): boolean {
  return kind === 'activity' && address === from && balanceChanges.some(({ asset }) => asset.trust === 'unlisted');
}

/**
 * Shows an address with its name in the address book. A heading has no name, because the service
 * says it, and a sender that an unlisted token claims has none.
 */
function Party(props: { readonly address: string; readonly transaction: Parties; readonly isHeading: boolean }) {
  const { address, transaction, isHeading } = props;
  const name = isHeading || isSenderClaimed(address, transaction) ? null : contactOf(address, transaction);
  if (name === null) return <Hash value={address} />;
  return (
    <>
      “{name}” (<Hash value={address} />)
    </>
  );
}

/** Shows a whole address, and its name in the address book as a claim. */
export function PartyFact({ address, transaction }: { readonly address: string; readonly transaction: Parties }) {
  const name = contactOf(address, transaction);
  return (
    <>
      <code>{address}</code>
      {name !== null && (
        <p class="claimed">
          “{name}” in the address book, as the service says.
          {isSenderClaimed(address, transaction) && ' The contract of an unlisted token can name any sender.'}
        </p>
      )}
    </>
  );
}

/**
 * Shows what a transaction does, in a few words.
 *
 * @param isHeading true where no text may stand that the service or the contract of a token claims
 */
export function Subject(props: { readonly transaction: Transaction; readonly isHeading?: boolean }) {
  const { transaction, isHeading = false } = props;
  const { kind, amount, asset, to, from, spender, direction } = transaction;
  const Shown = isHeading ? HeadingAmount : Amount;
  if (kind === 'message') return <>Sign a message</>;
  if (kind === 'activity') return <Movements {...{ transaction, Shown, isHeading }} />;
  const target = spender ?? to;
  return (
    <>
      {kind === 'transfer' ? 'Send' : kind === 'erc20-approve' ? 'Allow' : 'Call'}{' '}
      {amount !== null && <Shown amount={amount} asset={asset} />} {direction === 'out' ? 'to' : 'from'}{' '}
      <Party address={(direction === 'out' ? target : from) ?? ''} {...{ transaction, isHeading }} />
    </>
  );
}

function Movements(props: {
  readonly transaction: Transaction;
  readonly Shown: typeof Amount;
  readonly isHeading: boolean;
}) {
  const { transaction, Shown, isHeading } = props;
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
      {direction === 'in' ? 'from' : 'by'}{' '}
      {from === null ? 'the chain itself' : <Party address={from} {...{ transaction, isHeading }} />}
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

/** Shows when a credential was made and last used. The client chooses the name of the agent. */
export function LastUse(props: {
  readonly of: {
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
    readonly lastUsedAddress: string | null;
    readonly lastUsedAgent: string | null;
  };
}) {
  const { createdAt, lastUsedAt, lastUsedAddress, lastUsedAgent } = props.of;
  return (
    <>
      Created <Time iso={createdAt} />,{' '}
      {lastUsedAt === null ? (
        'never used'
      ) : (
        <>
          last used <Time iso={lastUsedAt} />
          {lastUsedAddress !== null && ` from ${lastUsedAddress}`}
          {lastUsedAgent !== null && ` by “${lastUsedAgent}”`}
        </>
      )}
    </>
  );
}
