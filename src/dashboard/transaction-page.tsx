import { useState } from 'preact/hooks';
import type { CanonicalText } from '#domain/read-canonical.ts';
import { readCanonical } from '#domain/read-canonical.ts';
import type { Challenge, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { useLive } from '#dashboard/live.ts';
import { reasonOf, Shown, useLoaded } from '#dashboard/loading.tsx';
import { Amount, Hash, State, Subject, Time } from '#dashboard/parts.tsx';

/** One transaction: what it does, who has said what, and for those whose voice it wants, exactly what they would approve. */
export function TransactionPage(props: { readonly txId: string; readonly nameOf: (vaultId: number) => string }) {
  const { txId, nameOf } = props;
  const line = api.transaction[':txId'];
  const { loaded, reload, change } = useLoaded(txId, () => good(line.$get({ param: { txId } })));
  const vaultId = loaded.state === 'ready' ? String(loaded.value.vaultId) : null;
  useLive(vaultId, { transaction: (record) => record.id === txId && change(() => record) });
  return (
    <main id="main">
      <Shown loaded={loaded} what="the transaction" again={reload}>
        {(transaction) => (
          <>
            <p>
              <a href={`#/vault/${transaction.vaultId}`}>{nameOf(transaction.vaultId)}</a>
            </p>
            <h1>
              <Subject transaction={transaction} />
            </h1>
            <p>
              <State state={transaction.state} /> on {transaction.chain}, since <Time iso={transaction.updatedAt} />
            </p>
            <Warnings warnings={transaction.warnings} />
            {transaction.actionsForMe.includes('approve') || transaction.actionsForMe.includes('reject') ? (
              <Decision transaction={transaction} decided={(record) => change(() => record)} />
            ) : null}
            <Facts transaction={transaction} />
            <Voices transaction={transaction} />
          </>
        )}
      </Shown>
    </main>
  );
}

function Warnings({ warnings }: Pick<Transaction, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <ul class="problem" role="alert">
      {warnings.map(({ code, detail }) => (
        <li key={`${code} ${detail}`}>{detail}</li>
      ))}
    </ul>
  );
}

interface Seen {
  readonly challenge: Challenge;
  readonly text: CanonicalText;
}

/**
 * What is approved is a digest, so what is shown is read out of the very bytes that it is the digest of, here and now: a service that shows one
 * thing and asks for another is found out before anybody has said yes.
 */
async function seenOf(txId: string): Promise<Seen> {
  const challenge = await good(api.transaction[':txId'].challenge.$get({ param: { txId } }));
  const bytes = Uint8Array.from(challenge.canonical.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const digest = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  const text = readCanonical(bytes);
  const named = text.fields.find(([name]) => name === 'transactionId')?.[1];
  if (digest !== challenge.digest || text.domain !== 'conclave/intent/v1' || named !== txId) {
    throw new Error('what the service shows is not what it asks for');
  }
  return { challenge, text };
}

function Decision(props: { readonly transaction: Transaction; readonly decided: (record: Transaction) => void }) {
  const { transaction, decided } = props;
  const { id: txId, actionsForMe } = transaction;
  const { loaded, reload } = useLoaded(`${txId} ${transaction.version}`, () => seenOf(txId));
  const [isSending, send] = useState(false);
  const [fault, complain] = useState<string | null>(null);
  const decide = (action: 'approve' | 'reject') => {
    send(true);
    complain(null);
    const line = api.transaction[':txId'];
    const asked =
      action === 'approve' ? line.approve.$post({ param: { txId } }) : line.reject.$post({ param: { txId } });
    good<Transaction>(asked)
      .then(decided, (error: unknown) => complain(reasonOf(error)))
      .finally(() => send(false));
  };
  return (
    <section class="card" aria-labelledby="decision">
      <h2 id="decision">What you would approve</h2>
      <Shown loaded={loaded} what="what you would approve" again={reload}>
        {({ challenge, text }) => (
          <>
            <dl class="facts">
              {text.fields.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    {value === null ? <span class="quiet">none</span> : <code>{value}</code>}{' '}
                    {value !== null && <InWords name={name} value={value} asset={transaction.asset} />}
                  </dd>
                </div>
              ))}
            </dl>
            <p class="quiet">
              Read out of the bytes that are approved, and hashed here: <Hash value={challenge.digest} />
            </p>
            {challenge.policy.approvalMode === 'device' ? (
              <p>
                This vault counts the signatures of devices. Approve with yours: <code>npm run device -- approve</code>
              </p>
            ) : (
              actionsForMe.includes('approve') && (
                <button type="button" class="yes" disabled={isSending} onClick={() => decide('approve')}>
                  Approve
                </button>
              )
            )}
          </>
        )}
      </Shown>
      {actionsForMe.includes('reject') && (
        <button type="button" class="no" disabled={isSending} onClick={() => decide('reject')}>
          Reject
        </button>
      )}
      {fault !== null && (
        <p class="problem" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}

/** What a person would say, beside what is hashed. */
function InWords(props: { readonly name: string; readonly value: string } & Pick<Transaction, 'asset'>) {
  const { name, value, asset } = props;
  if (name === 'amount') return <Amount amount={value} asset={asset} />;
  if (name.endsWith('AtMs')) return <Time iso={new Date(Number.parseInt(value, 10)).toISOString()} />;
  return null;
}

function Facts({ transaction }: { readonly transaction: Transaction }) {
  const { from, to, spender, amount, asset, maxFee, feePaid, note, call, message, txHash, explorerUrl } = transaction;
  const { lookalikeOf, confirmations, failure, stateReason, expiresAt, usdValue } = transaction;
  const rows: readonly (readonly [string, preact.ComponentChildren])[] = [
    ['From', <code>{from}</code>],
    ['To', to === null ? null : <code>{to}</code>],
    ['Spender', spender === null ? null : <code>{spender}</code>],
    ['Looks like', lookalikeOf === null ? null : <code>{lookalikeOf}</code>],
    ['Amount', amount === null ? null : <Amount amount={amount} asset={asset} />],
    ['Worth', usdValue === null ? null : `$${usdValue}`],
    ['Call', call === null ? null : `${call.standard}: ${call.function}`],
    ['Message', message],
    ['Fee at most', maxFee],
    ['Fee paid', feePaid],
    ['Note', note],
    ['Decided until', expiresAt === null ? null : <Time iso={expiresAt} />],
    [
      'Hash',
      txHash === null ? null : explorerUrl === null ? <code>{txHash}</code> : <a href={explorerUrl}>{txHash}</a>,
    ],
    ['Confirmations', txHash === null ? null : String(confirmations)],
    ['Why', failure ?? stateReason],
  ];
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">Facts</h2>
      <dl class="facts">
        {rows
          .filter(([, value]) => value !== null)
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

function Voices({ transaction }: { readonly transaction: Transaction }) {
  const { approvals, approvalsCounted, requiredApprovals, rejection, kind } = transaction;
  if (kind === 'activity') return null;
  return (
    <section aria-labelledby="voices">
      <h2 id="voices">
        {approvalsCounted} of {requiredApprovals} approvals
      </h2>
      <ul class="rows">
        {approvals.map(({ userId, at }) => (
          <li key={userId}>
            <Hash value={userId} /> approved <Time iso={at} />
          </li>
        ))}
        {rejection !== null && (
          <li>
            <Hash value={rejection.userId} /> rejected <Time iso={rejection.at} />
          </li>
        )}
      </ul>
    </section>
  );
}
