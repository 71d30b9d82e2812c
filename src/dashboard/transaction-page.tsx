import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { useLive } from '#dashboard/live.ts';
import { Decision } from '#dashboard/decision.tsx';
import { Shown, useLoaded } from '#dashboard/loading.tsx';
import { Amount, Hash, State, Subject, Time } from '#dashboard/parts.tsx';

/** One transaction: what it does, who has said what, and for those whose voice it wants, exactly what they would approve. */
export function TransactionPage(props: { readonly txId: string; readonly nameOf: (vaultId: number) => string }) {
  const { txId, nameOf } = props;
  const line = api.transaction[':txId'];
  const { loaded, reload, change } = useLoaded(txId, () => good(line.$get({ param: { txId } })));
  const decided = (record: Transaction) => change(() => record);
  const vaultId = loaded.state === 'ready' ? String(loaded.value.vaultId) : null;
  useLive(vaultId, {
    transaction: (record) => {
      if (record.id === txId) decided(record);
    },
  });
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
            {['approve', 'reject'].some((action) => transaction.actionsForMe.includes(action as 'approve')) && (
              <Decision
                name={`${txId} ${transaction.version}`}
                asked={() => askedOf(txId)}
                actions={transaction.actionsForMe}
                approve={async (voice) =>
                  decided(
                    await good<Transaction>(
                      line.approve.$post({ param: { txId }, ...(voice === undefined ? {} : { json: voice }) }),
                    ),
                  )
                }
                reject={async () => decided(await good<Transaction>(line.reject.$post({ param: { txId } })))}
                inWords={(name, value) => name === 'amount' && <Amount amount={value} asset={transaction.asset} />}
              />
            )}
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

async function askedOf(txId: string) {
  const { digest, canonical, policy, devices } = await good(
    api.transaction[':txId'].challenge.$get({ param: { txId } }),
  );
  const id = ['transactionId', txId] as const;
  const { approvalMode } = policy;
  return { asked: { digest, canonical, domain: 'conclave/intent/v1', id }, ballot: { approvalMode, devices } };
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
