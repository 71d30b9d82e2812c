import { useEffect, useState } from 'preact/hooks';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import { Shown, useLoaded } from '#dashboard/loading.tsx';
import { PolicyPage } from '#dashboard/policy-page.tsx';
import { ReceivePage } from '#dashboard/receive-page.tsx';
import { TokensPage } from '#dashboard/tokens-page.tsx';
import { TransactionPage } from '#dashboard/transaction-page.tsx';
import { TransferPage } from '#dashboard/transfer-page.tsx';
import { VaultPage } from '#dashboard/vault-page.tsx';
import { VaultsPage } from '#dashboard/vaults-page.tsx';

/** Whoever is logged in sees their pages, and everybody else the way in. */
export function App() {
  const path = usePath();
  const { loaded, reload } = useLoaded('me', async () => {
    try {
      const me = await good(api.user.me.$get());
      return { me, vaults: (await good(api.session.vaults.$get())).data };
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  });
  return (
    <Shown loaded={loaded} what="your vaults" again={reload}>
      {(seen) =>
        seen === null ? (
          <Welcome path={path} />
        ) : (
          <>
            <a class="skip" href="#main" onClick={skip}>
              To the content
            </a>
            <header>
              <nav aria-label="Pages">
                <a href="#/">Vaults</a>
                <a href="#/tokens">Tokens</a>
              </nav>
              <span class="quiet">{seen.me.name}</span>
              <button type="button" onClick={() => void leave(reload)}>
                Log out
              </button>
            </header>
            <Page path={path} vaults={seen.vaults} me={seen.me} />
          </>
        )
      }
    </Shown>
  );
}

/** The path after the `#`: the service's own paths are its interface. */
function usePath(): string {
  const [path, set] = useState(pathNow());
  useEffect(() => {
    const look = () => set(pathNow());
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return path;
}

function pathNow(): string {
  return location.hash.replace(/^#/, '') || '/';
}

function Page(props: { readonly path: string; readonly vaults: readonly OwnVault[]; readonly me: Person }) {
  const { path, vaults, me } = props;
  const [, kind, id, part] = path.split('/');
  const nameOf = (vaultId: number) => vaults.find((vault) => vault.id === vaultId)?.name ?? `Vault ${vaultId}`;
  if (kind === '') return <VaultsPage vaults={vaults} />;
  const vault = kind === 'vault' ? vaults.find((one) => String(one.id) === id) : undefined;
  if (vault !== undefined && part === 'transfer') return <TransferPage key={id} vault={vault} />;
  if (vault !== undefined && part === 'policy') return <PolicyPage key={id} vault={vault} me={me} />;
  if (vault !== undefined && part === 'receive') return <ReceivePage vault={vault} />;
  if (kind === 'vault' && id !== undefined) {
    return <VaultPage key={id} vaultId={id} name={nameOf(Number.parseInt(id, 10))} />;
  }
  if (kind === 'transaction' && id !== undefined) return <TransactionPage key={id} txId={id} nameOf={nameOf} />;
  if (kind === 'tokens') return <TokensPage />;
  return (
    <main id="main">
      <h1>There is nothing here</h1>
      <p>
        <a href="#/">To your vaults</a>
      </p>
    </main>
  );
}

function Welcome({ path }: { readonly path: string }) {
  return (
    <main id="main" class="welcome">
      <h1>Conclave</h1>
      <p>Vaults with several signers, and no key in one place.</p>
      <a class="button" href={`/login?to=${encodeURIComponent(`/#${path}`)}`}>
        Log in
      </a>
    </main>
  );
}

/** The hash is the page: the way to the content must not be another one. */
function skip(event: Event): void {
  event.preventDefault();
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

async function leave(reload: () => void): Promise<void> {
  await good(api.session.$delete()).catch(() => null);
  reload();
}
