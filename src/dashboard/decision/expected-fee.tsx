import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { feeInUsd, usdText } from '#dashboard/amounts/money.ts';
import type { Review } from '#dashboard/decision/review.ts';
import { balancesOf } from '#dashboard/lists.ts';
import type { Estimate } from '#dashboard/pages/transfer-review.tsx';
import { useLoaded } from '#dashboard/shell/loading.tsx';

/**
 * Shows the fee that the service expects for a transfer at current prices, beside the maximum that
 * is signed. Other kinds have no estimate, and neither has a transfer that pays for another one.
 */
export function ExpectedFee(props: { readonly transaction: Transaction; readonly review: Review }) {
  const { subject } = props.review;
  const intent = subject.kind === 'intent' ? subject.intent : null;
  if (intent?.kind !== 'transfer' || intent.paysFor !== undefined) return null;
  return <TransferFee {...props} intent={intent} />;
}

type Intent = Extract<Review['subject'], { readonly kind: 'intent' }>['intent'];

function TransferFee(props: {
  readonly transaction: Transaction;
  readonly intent: Extract<Intent, { readonly kind: 'transfer' }>;
}) {
  const { transaction, intent } = props;
  const { id, vaultId, chain, speed, feeAsset, maxFee } = transaction;
  const { loaded } = useLoaded(`expected fee ${id}`, async () => {
    const json = {
      vaultId,
      chain,
      to: intent.to,
      amount: intent.amount,
      tokenAddress: intent.tokenAddress,
      memo: intent.memo ?? null,
      recipientMayHaveNoKey: intent.recipientMayHaveNoKey === true,
      recipientIsToken: intent.recipientIsToken === true,
      acceptLookalikeOf: intent.lookalikeOf,
    };
    const [fees, balances] = await Promise.all([
      good<Estimate>(api.transaction['estimate-fee'].$post({ json })),
      balancesOf(String(vaultId)).catch(() => []),
    ]);
    const fee = fees[speed ?? 'normal'].expectedFee;
    const native = balances.find((one) => one.chain === chain && one.asset.tokenAddress === null);
    return { fee, usd: native === undefined ? null : usdText(feeInUsd(fee, native)) };
  });
  if (loaded.state === 'loading') return null;
  if (loaded.state === 'failed') return <p class="claimed">The service has no estimate of the fee now.</p>;
  const { fee, usd } = loaded.value;
  return (
    <p class="claimed">
      Expected fee: <Amount amount={fee} asset={feeAsset} />
      {usd !== null && ` (${usd})`}
      {maxFee !== null && (
        <>
          , at most <Amount amount={maxFee} asset={feeAsset} />
        </>
      )}
      . The service estimates it at current prices.
    </p>
  );
}
