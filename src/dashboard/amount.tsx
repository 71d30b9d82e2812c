import type { Asset } from '#dashboard/asset-name.ts';
import { assetName, claimText } from '#dashboard/asset-name.ts';
import { unitsText } from '#dashboard/money.ts';
import { abbreviated } from '#dashboard/text.ts';

/**
 * Shows an amount with its asset. When the decimals are unknown, the amount is in the smallest
 * unit. The decimals of an unlisted token are a claim too, so its amount follows the name.
 */
export function Amount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  const decimals = asset?.decimals ?? null;
  const shown = decimals === null ? `${unitsText(amount, 0)} units` : unitsText(amount, decimals);
  return (
    <span class="amount" title={`${amount} in the smallest unit`}>
      {asset === null ? (
        shown
      ) : asset.trust === 'unlisted' ? (
        <UnlistedAmount shown={shown} asset={asset} />
      ) : (
        `${shown} ${assetName(asset)}`
      )}
    </span>
  );
}

function UnlistedAmount({ shown, asset }: { readonly shown: string; readonly asset: Asset }) {
  const { tokenAddress, symbol, imitates } = asset;
  return (
    <>
      {shown} of unlisted token <code title={tokenAddress ?? ''}>{abbreviated(tokenAddress ?? '')}</code>
      {symbol !== null && <span class="quiet">, calls itself “{claimText(symbol)}”</span>}
      {imitates !== null && (
        <>
          {' '}
          <strong class="state bad">Imitates {imitates}</strong>
        </>
      )}
    </>
  );
}

/** Shows an amount for a heading, where no claim may stand: of an unlisted token its contract. */
export function HeadingAmount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  if (asset?.trust !== 'unlisted') return <Amount amount={amount} asset={asset} />;
  return (
    <>
      an unlisted token <code title={asset.tokenAddress ?? ''}>{abbreviated(asset.tokenAddress ?? '')}</code>
    </>
  );
}
