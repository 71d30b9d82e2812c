import type { ComponentChildren } from 'preact';
import type { CanonicalText } from '#domain/canonical/read-text.ts';
import type { Transaction } from '#dashboard/api.ts';
import { Amount } from '#dashboard/amount.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';

/** Fields that identify the transaction. The page shows them under the technical details. */
const TECHNICAL: ReadonlySet<string> = new Set([
  'kind',
  'vaultId',
  'transactionId',
  'policyVersion',
  'policyHash',
  'createdAtMs',
  'format',
]);

const LABELS: Readonly<Record<string, string>> = {
  chain: 'Network',
  from: 'From',
  to: 'Recipient',
  spender: 'Spender',
  tokenAddress: 'Token',
  amount: 'Amount',
  value: 'Amount',
  maxFee: 'Maximum fee',
  note: 'Note',
  memo: 'Memo on chain',
  message: 'Message',
  data: 'Calldata',
  lookalikeOf: 'Similar to',
  paysFor: 'Pays for',
  recipientMayHaveNoKey: 'Recipient may have no key',
  recipientIsToken: 'Recipient is the contract of the token',
  maxTokenFee: 'Withheld by the token, at most',
  foreignChainId: 'Signed for chain id',
  droppedKeys: 'Dropped keys',
  expiresAtMs: 'Expires',
  notAfterMs: 'Not after',
};

/**
 * Shows what a transaction does, read from the fields that its digest covers. The record adds only
 * names and units. An unknown field is shown under its own name and never left out.
 */
export function IntentFacts({
  text,
  transaction,
}: {
  readonly text: CanonicalText;
  readonly transaction: Transaction;
}) {
  const rows = text.fields.flatMap(([field, value]) =>
    value === null || TECHNICAL.has(field) ? [] : [[field, value] as const],
  );
  return (
    <dl class="facts">
      {rows.map(([field, value]) => (
        <div key={field}>
          <dt>{LABELS[field] ?? field}</dt>
          <dd>{inWords(field, value, transaction)}</dd>
        </div>
      ))}
    </dl>
  );
}

function inWords(field: string, value: string, transaction: Transaction): ComponentChildren {
  const { chain, asset, feeAsset, knownAs } = transaction;
  if (field === 'chain') return chain === value ? chain : `${chain} (${value})`;
  if (field === 'amount' || field === 'maxTokenFee') return <Amount amount={value} asset={asset} />;
  if (field === 'maxFee' || field === 'value') return <Amount amount={value} asset={feeAsset} />;
  if (field.endsWith('AtMs') || field === 'notAfterMs')
    return <Time iso={new Date(Number.parseInt(value, 10)).toISOString()} />;
  if (field === 'note' || field === 'memo' || field === 'message') return <span class="as-typed">{value}</span>;
  const contact = knownAs.find(({ address }) => address === value);
  return (
    <>
      {contact !== undefined && <strong>{contact.name} </strong>}
      <code>{value}</code>
    </>
  );
}
