import { encode } from 'uqr';
import type { OwnVault } from '#dashboard/api.ts';
import { CopyButton } from '#dashboard/forms/copy-button.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { chainName, isOnSolana } from '#dashboard/text.ts';

/** Shows the addresses of a vault, to copy or to scan with a phone. */
export function ReceivePage({ vault }: { readonly vault: OwnVault }) {
  useTitle(`Receive · ${vault.name}`);
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}`}>{vault.name}</a>
      </p>
      <PageHeading>Receive</PageHeading>
      {vault.wallets.length === 0 && <p class="quiet">Addresses appear when the keys are ready.</p>}
      <ul class="cards">
        {vault.wallets.map(({ chain, address }) => (
          <li key={chain} class="card">
            <h2>{chainName(chain)}</h2>
            <QrCode text={address} label={`QR code of the address on ${chainName(chain)}`} />
            <p>
              <code class="secret">{address}</code>
            </p>
            <p>
              <strong>Send only assets of {chainName(chain)} to this address.</strong>
            </p>
            {isOnSolana(chain) && (
              <p class="quiet">
                The issuer of a token of Token-2022 (PYUSD and USDG are such tokens) can freeze or move what this
                address holds. Tokens with a transfer hook, and tokens without transfers, cannot be paid out.
              </p>
            )}
            <CopyButton text={address} what={`the address on ${chainName(chain)}`} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        The server provides these addresses. Before you receive a large amount, ask a second signer to compare the
        address in their own browser.
      </p>
    </main>
  );
}

function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text);
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={squares.join('')} />
    </svg>
  );
}
