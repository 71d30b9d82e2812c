import type { Asset } from '#dashboard/amounts/asset-name.ts';
import { assetName, claimText } from '#dashboard/amounts/asset-name.ts';
import { unitsText } from '#dashboard/amounts/money.ts';
import { abbreviated } from '#dashboard/text.ts';

/**
 * Shows an amount with its asset. When the decimals are unknown, the amount is in the smallest
 * unit. The decimals of an unlisted token are a claim too, so its amount follows the name.
 */
export function Amount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  const shown = numberText(amount, asset);
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

/** Shows a part of an amount that stands before it with its asset. */
export function PartAmount({ amount, asset }: { readonly amount: string; readonly asset: Asset | null }) {
  return (
    <span class="amount" title={`${amount} in the smallest unit`}>
      {numberText(amount, asset)}
    </span>
  );
}

function numberText(amount: string, asset: Asset | null): string {
  const decimals = asset?.decimals ?? null;
  return decimals === null ? `${unitsText(amount, 0)} units` : unitsText(amount, decimals);
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
