import { useState } from 'preact/hooks';
import type { OwnVault, Person, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { mayIn } from '#dashboard/shell/access.tsx';
import { useLive } from '#dashboard/live.ts';
import { Decision } from '#dashboard/decision/decision.tsx';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { RejectionText } from '#dashboard/decision/rejection.tsx';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { Claims, NoteQuote } from '#dashboard/decision/claims.tsx';
import { ExpectedFee } from '#dashboard/decision/expected-fee.tsx';
import { reviewOfRecord } from '#dashboard/decision/review.ts';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { PartyFact, State, Subject, Time, Warnings } from '#dashboard/pages/record-fields.tsx';
import { usdText } from '#dashboard/amounts/money.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Simulation } from '#dashboard/pages/simulation.tsx';
import { Steps } from '#dashboard/pages/steps.tsx';
import { approvalsText, hiddenText, reasonText } from '#dashboard/text.ts';

/** States in which a member can still decide. */
const PENDING: ReadonlySet<Transaction['state']> = new Set(['DRAFT', 'SUBMITTED']);
const UNPAID: ReadonlySet<Transaction['state']> = new Set(['REJECTED', 'CANCELLED', 'EXPIRED']);
const ENDED: ReadonlySet<Transaction['state']> = new Set(['SUCCEEDED', 'FAILED', ...UNPAID]);

/**
 * Shows one transaction: what it does, its approvals, and the approval form for a reader whose
 * approval is missing.
 */
export function TransactionPage(props: {
  readonly txId: string;
  readonly vaults: readonly OwnVault[];
  readonly me: Person;
}) {
  const { txId, vaults, me } = props;
  const line = api.transaction[':txId'];
  const read = () => good(line.$get({ param: { txId } }));
  const { loaded, reload, change } = useLoaded(`transaction ${txId}`, read, { newer });
  useTitle('Transaction');
  const vaultOf = (one: Transaction) => vaults.find(({ id }) => id === one.vaultId);
  const decided = (record: Transaction) => change(() => record);
  const vaultId = loaded.state === 'ready' ? String(loaded.value.vaultId) : null;
  useLive(vaultId, {
    transaction: (record) => {
      if (record.id === txId) decided(record);
    },
    missed: reload,
  });
  return (
    <main id="main">
      {loaded.state !== 'ready' && <PageHeading>Transaction</PageHeading>}
      <LoadedContent loaded={loaded} what="the transaction" again={reload}>
        {(transaction) => (
          <>
            <p>
              <a href={`#/vault/${transaction.vaultId}`}>
                {vaultOf(transaction)?.name ?? `Vault ${transaction.vaultId}`}
              </a>
            </p>
            {!isDecidable(transaction) && (
              <PageHeading>
                <Subject transaction={transaction} isHeading />
              </PageHeading>
            )}
            <p class="now">
              <State state={transaction.state} /> on {transaction.chain}, since <Time iso={transaction.updatedAt} />
            </p>
            {!isDecidable(transaction) && <Warnings warnings={transaction.warnings} />}
            <HiddenParts transaction={transaction} />
            {isDecidable(transaction) && (
              <Decision
                // A service can send another record of the same version, so all of it is the name.
                name={JSON.stringify(transaction)}
                review={() =>
                  reviewOfRecord({ kind: 'transaction', txId }, me, {
                    record: transaction,
                    reload: read,
                    changed: decided,
                  })
                }
                level="h1"
                forbiddenBy={transaction.forbiddenBy}
                claims={(review) => (
                  <>
                    <ExpectedFee transaction={transaction} review={review} />
                    <Claims transaction={transaction} review={review} />
                  </>
                )}
                actions={transaction.actionsForMe}
                approve={async (signature) =>
                  decided(
                    await good<Transaction>(
                      line.approve.$post({ param: { txId }, ...(signature === undefined ? {} : { json: signature }) }),
                    ),
                  )
                }
                reject={async (json) => decided(await good<Transaction>(line.reject.$post({ param: { txId }, json })))}
                task={{ kind: 'transaction', txId }}
                rejection={{ kind: 'transaction-rejection', txId }}
                me={me}
              />
            )}
            {!isDecidable(transaction) && <NoteQuote of={transaction} />}
            {PENDING.has(transaction.state) && <Simulation transaction={transaction} />}
            <Further
              transaction={transaction}
              mayHide={mayCurate(transaction, { vault: vaultOf(transaction), me })}
              changed={decided}
            />
            <Facts transaction={transaction} isReviewed={isDecidable(transaction)} />
            <Approvals transaction={transaction} />
            {transaction.kind !== 'activity' && <Steps transaction={transaction} />}
          </>
        )}
      </LoadedContent>
    </main>
  );
}

/** A record that arrived live is not replaced by an answer that is older. */
function newer(shown: Transaction, read: Transaction): Transaction {
  return shown.version > read.version ? shown : read;
}

/** Shows which rule hides a transaction, or which of its assets a rule hides. */
function HiddenParts({ transaction: { visible, hiddenReason, hiddenChanges } }: { readonly transaction: Transaction }) {
  if (hiddenReason === null && hiddenChanges.length === 0) return null;
  return (
    <section class="problem" aria-label="Hidden">
      {hiddenReason !== null && (
        <p>
          {visible ? 'A member chose to show this. A rule had hidden it: ' : 'Hidden by a rule: '}
          {hiddenText(hiddenReason)}
        </p>
      )}
      {hiddenChanges.map(({ asset, tokenId, amount, hiddenReason: reason }) => (
        <p key={`${asset.tokenAddress} ${tokenId}`}>
          Not shown above: <Amount amount={amount} asset={asset} />. {hiddenText(reason)}
        </p>
      ))}
    </section>
  );
}

const UNKNOWN_ENDS = {
  COIN_UNKNOWN: 'No RPC node shows a UTXO that this payment spends. Its UTXOs stay reserved for 14 days.',
  NONCE_USED_UNEXPLAINED: 'The nonce of this payment is used, and no RPC node shows by which transaction.',
  NOT_SHOWN: 'For an hour no RPC node has shown this payment, nor its cancellation.',
  REJECTED_BY_NODE: 'Every RPC node refuses this payment. It may still be mined.',
} as const;

function isUnknownEnd(reason: string | null): reason is keyof typeof UNKNOWN_ENDS {
  return reason !== null && reason in UNKNOWN_ENDS;
}

const CANCEL_PENDING: Confirmation = {
  heading: 'Cancel this transaction?',
  warning: 'It ends permanently. A new transaction needs all approvals again.',
  action: 'Cancel transaction',
};

const CANCEL_BROADCAST: Confirmation = {
  heading: 'Cancel this transaction on chain?',
  warning:
    'A cancellation cannot be stopped: the wallet pays a fee for a payment of 0 to itself, and the chain includes one ' +
    'of the two.',
  action: 'Cancel on chain',
};

function abandonmentOf(reason: keyof typeof UNKNOWN_ENDS): Confirmation {
  const warning = `${UNKNOWN_ENDS[reason]} The payment may still be mined. A second payment may then pay twice.`;
  return { heading: 'Abandon this transaction?', warning, action: 'Abandon' };
}

function showingOf(hiddenReason: string): Confirmation {
  const warning = `${hiddenText(hiddenReason)} All members then see it, and its assets are listed among the balances.`;
  return { heading: 'Show this transaction?', warning, action: 'Show it' };
}

/** Reports whether the reader may show or hide a transaction. The service checks each request. */
function mayCurate(
  { kind, visible, state, createdBy, approvals }: Transaction,
  { vault, me }: { readonly vault: OwnVault | undefined; readonly me: Person },
): boolean {
  if (vault === undefined) return false;
  const [isCurator, isAdmin] = [mayIn(vault, 'curate'), mayIn(vault, 'administer')];
  if (kind === 'activity' || !visible || !isCurator) return isCurator;
  // As the service decides (`mayHide`).
  const isUnpaid = PENDING.has(state) || (UNPAID.has(state) && approvals.length === 0);
  return isUnpaid ? createdBy === me.id || isAdmin : isAdmin && ENDED.has(state);
}

/** Shows the further actions of the reader. */
function Further(props: {
  readonly transaction: Transaction;
  readonly mayHide: boolean;
  readonly changed: (record: Transaction) => void;
}) {
  const { transaction, mayHide, changed } = props;
  const { id, actionsForMe, state, stateReason, visible, hiddenReason } = transaction;
  const [fault, setError] = useState<string | null>(null);
  const [isSending, send] = useState(false);
  const line = api.transaction[':txId'];
  const param = { txId: id };
  const isBroadcast = state === 'BROADCAST';
  // Another state gives the same request another effect.
  const { confirm, dialog } = useConfirmation(`${state} ${stateReason}`);
  type Offer = readonly [name: string, request: () => Promise<Transaction>, confirmation?: Confirmation];
  const does: Readonly<Record<string, Offer | undefined>> = {
    'speed-up': ['Speed up', () => good<Transaction>(line['speed-up'].$post({ param }))],
    'child-pays-for-parent': [
      'Bump fee (CPFP)',
      () => good<Transaction>(line['child-pays-for-parent'].$post({ param })),
    ],
    'end-unknown': isUnknownEnd(stateReason)
      ? [
          'Abandon (may still be mined)',
          () => good<Transaction>(line.cancel.$post({ param, json: { acknowledge: stateReason } })),
          abandonmentOf(stateReason),
        ]
      : undefined,
    cancel: [
      isBroadcast ? 'Cancel on chain' : 'Cancel',
      () => good<Transaction>(line.cancel.$post({ param })),
      isBroadcast ? CANCEL_BROADCAST : CANCEL_PENDING,
    ],
  };
  const doIt = (request: () => Promise<Transaction>) => {
    send(true);
    setError(null);
    request()
      .then(changed, (error: unknown) => setError(reasonOf(error)))
      .finally(() => send(false));
  };
  const offered = actionsForMe.flatMap((action) => (does[action] === undefined ? [] : [does[action]]));
  const curate = () => good<Transaction>(line.visibility.$patch({ param, json: { visible: !visible } }));
  return (
    <div class="doors">
      {offered.map(([name, request, confirmation]) => (
        <button
          key={name}
          type="button"
          disabled={isSending}
          onClick={() => (confirmation === undefined ? doIt(request) : confirm(confirmation, () => doIt(request)))}
        >
          {name}
        </button>
      ))}
      {mayHide && (
        <button
          type="button"
          disabled={isSending}
          onClick={() =>
            visible || hiddenReason === null ? doIt(curate) : confirm(showingOf(hiddenReason), () => doIt(curate))
          }
        >
          {visible ? 'Hide' : 'Unhide'}
        </button>
      )}
      <ErrorText why={fault} />
      {dialog}
    </div>
  );
}

/** Facts that a deciding reader sees in the approval form, read from the bytes. */
const REVIEWED: ReadonlySet<string> = new Set([
  'From',
  'To',
  'Spender',
  'Similar to',
  'Amount',
  'Message',
  'Maximum fee',
  'Memo on chain',
  'Expires',
  'Not after',
]);

function isDecidable({ actionsForMe }: Transaction): boolean {
  return actionsForMe.includes('approve') || actionsForMe.includes('reject');
}

function Facts({ transaction, isReviewed }: { readonly transaction: Transaction; readonly isReviewed: boolean }) {
  const { from, to, spender, amount, asset, maxFee, feePaid, speed, call, message, txHash, explorerUrl } = transaction;
  const { feeAsset, lookalikeOf, memo, confirmations, failure, stateReason, stateDetail, waitsFor } = transaction;
  const { expiresAt, notAfter, usdValue } = transaction;
  const party = (address: string | null) =>
    address === null ? null : <PartyFact address={address} transaction={transaction} />;
  const rows: readonly (readonly [string, preact.ComponentChildren])[] = [
    ['From', party(from)],
    ['To', party(to)],
    ['Spender', party(spender)],
    ['Similar to', lookalikeOf === null ? null : <code>{lookalikeOf}</code>],
    ['Amount', amount === null ? null : <Amount amount={amount} asset={asset} />],
    ['Value (USD)', usdText(usdValue)],
    ['Call', call === null ? null : <DecodedCall call={call} />],
    ['Message', message],
    ['Maximum fee', maxFee === null ? null : <Amount amount={maxFee} asset={feeAsset} />],
    ['Fee paid', feePaid === null ? null : <Amount amount={feePaid} asset={feeAsset} />],
    ['Speed', speed],
    ['Memo on chain', memo],
    ['Expires', expiresAt === null ? null : <Time iso={expiresAt} />],
    ['Not after', notAfter === null ? null : <Time iso={notAfter} />],
    [
      'Transaction hash',
      txHash === null ? null : explorerUrl === null ? (
        <code>{txHash}</code>
      ) : (
        <a href={explorerUrl} target="_blank" rel="noopener noreferrer">
          {txHash}
        </a>
      ),
    ],
    ['Confirmations', txHash === null ? null : String(confirmations)],
    ['Reason', failure ?? reasonText(stateReason)],
    ['RPC nodes answer', stateDetail],
    ['Waits for', waitsFor === null ? null : <a href={`#/transaction/${waitsFor}`}>{waitsFor}</a>],
  ];
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">Details</h2>
      <dl class="facts">
        {rows
          .filter(([name, value]) => value !== null && !(isReviewed && REVIEWED.has(name)))
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

/** Shows decoded calldata when a standard describes it. */
function DecodedCall({ call }: { readonly call: NonNullable<Transaction['call']> }) {
  return (
    <>
      {call.standard}: {call.function}
      <ul class="plain">
        {call.arguments.map(({ name, type, value }) => (
          <li key={name}>
            <span class="quiet">{name}</span>{' '}
            <code title={type}>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function Approvals({ transaction }: { readonly transaction: Transaction }) {
  const { approvals, approvalsCounted, requiredApprovals, rejections, requiredRejections, kind } = transaction;
  if (kind === 'activity') return null;
  return (
    <section aria-labelledby="approvals">
      <h2 id="approvals">
        {approvalsCounted} of {approvalsText(requiredApprovals)}
      </h2>
      <ul class="rows">
        {approvals.map(({ userId, at }) => (
          <li key={userId}>
            <MemberLabel userId={userId} /> approved <Time iso={at} />
          </li>
        ))}
        {rejections.map((rejection) => (
          <li key={`rejection ${rejection.userId}`}>
            <RejectionText rejection={rejection} />
          </li>
        ))}
      </ul>
      {rejections.length > 0 && requiredRejections > 1 && (
        <p class="quiet">
          {rejections.length} of {requiredRejections} rejections that end it.
        </p>
      )}
    </section>
  );
}
