import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { usdText, valueLike } from '#dashboard/amounts/money.ts';
import type { Review } from '#dashboard/decision/review.ts';
import { balancesKey, balancesOf } from '#dashboard/lists.ts';
import type { Estimate } from '#dashboard/pages/transfer-review.tsx';
import { useLoaded } from '#dashboard/shell/loading.tsx';
import { queryClient } from '#dashboard/shell/query-client.ts';

/**
 * Shows the value of a transfer, and the fee that the service expects at current prices beside the
 * maximum that is signed. Other kinds have no estimate, and neither has a transfer that pays for
 * another one.
 */
export function ExpectedFee(props: { readonly transaction: Transaction; readonly review: Review }) {
  const { subject } = props.review;
  const intent = subject.kind === 'intent' ? subject.intent : null;
  if (intent?.kind !== 'transfer' || intent.paysFor !== undefined) return null;
  return <TransferFee {...props} intent={intent} />;
}

/** Ours: an estimate of a minute ago is one of now, and a session has few requests. */
const FRESH_MS = 60_000;

/** Returns the balances of a vault, for their prices; none when they cannot be read. */
function recentBalances(vaultId: string): Promise<readonly Balance[]> {
  const balances = { queryKey: [balancesKey(vaultId)], queryFn: () => balancesOf(vaultId), staleTime: FRESH_MS };
  return queryClient.fetchQuery(balances).catch(() => []);
}

type Intent = Extract<Review['subject'], { readonly kind: 'intent' }>['intent'];

function TransferFee(props: {
  readonly transaction: Transaction;
  readonly intent: Extract<Intent, { readonly kind: 'transfer' }>;
}) {
  const { transaction, intent } = props;
  const { id, vaultId, chain, speed, feeAsset, maxFee } = transaction;
  const { loaded } = useLoaded(
    `expected fee ${id}`,
    async () => {
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
        recentBalances(String(vaultId)),
      ]);
      const fee = fees[speed ?? 'normal'].expectedFee;
      const usdOf = (units: string, tokenAddress: string | null) => {
        const held = balances.find((one) => one.chain === chain && one.asset.tokenAddress === tokenAddress);
        return held === undefined ? null : usdText(valueLike(units, held));
      };
      return { fee, usd: usdOf(fee, null), value: usdOf(intent.amount, intent.tokenAddress) };
    },
    { freshMs: FRESH_MS },
  );
  // The line has its height from the start: the button below it must not move under a finger.
  if (loaded.state === 'loading') return <p class="claimed estimated">Estimating the fee…</p>;
  if (loaded.state === 'failed') return <p class="claimed estimated">The service has no estimate of the fee now.</p>;
  const { fee, usd, value } = loaded.value;
  return (
    <p class="claimed estimated">
      {value !== null && `Value: ${value}. `}
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
