import { useState } from 'preact/hooks';
import { mayIn, MissingRole } from '#dashboard/shell/access.tsx';
import type { Balance, OwnVault, Person } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import { balancesOf } from '#dashboard/lists.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { byTrust, choiceName } from '#dashboard/amounts/asset-name.ts';
import { amountHint, parseUnits } from '#dashboard/amounts/money.ts';
import type { Draft, Estimate, TransferInput } from '#dashboard/pages/transfer-review.tsx';
import { TransferReview } from '#dashboard/pages/transfer-review.tsx';
import { useTextDraft } from '#dashboard/shell/draft.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { isOnSolana } from '#dashboard/text.ts';

/** The fields as they are typed. A ticked box is `yes`. */
const EMPTY = { asset: '', to: '', amount: '', note: '', memo: '', isKeyless: '', idempotencyKey: '' };

type Fields = Readonly<typeof EMPTY>;

/** Creates a transfer: the form, the estimated fee, then the review of exactly what is sent. */
export function TransferPage({ vault, me }: { readonly vault: OwnVault; readonly me: Person }) {
  useTitle(`New transfer · ${vault.name}`);
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  const { loaded, reload } = useLoaded(
    `transfer ${vault.id}`,
    async () => {
      const balances = await balancesOf(param.vaultId);
      const { addressBook } = (await good(line.policy.$get({ param, query: {} }))).policy;
      // The tokens of a collection are paid by another standard.
      return { balances: balances.filter(({ tokenId }) => tokenId === null).toSorted(byTrust), addressBook };
    },
    { isForForm: true },
  );
  const { draft: fields, write, discard } = useTextDraft<Fields>(`${me.id} transfer ${vault.id}`, EMPTY);
  const [draft, review] = useState<Draft | null>(null);
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}`}>{vault.name}</a>
      </p>
      <PageHeading>New transfer</PageHeading>
      <LoadedContent loaded={loaded} what="the balances" again={reload}>
        {({ balances, addressBook }) =>
          !mayIn(vault, 'create') ? (
            <MissingRole vault={vault} needs="initiator or signer" />
          ) : draft === null ? (
            <Form
              vaultId={vault.id}
              balances={balances}
              addressBook={addressBook}
              fields={fields}
              // Other inputs are another transfer, which needs a key of its own.
              write={(change) => write({ idempotencyKey: '', ...change })}
              discard={discard}
              drafted={review}
            />
          ) : (
            <TransferReview draft={draft} back={() => review(null)} created={discard} />
          )
        }
      </LoadedContent>
    </main>
  );
}

function Form(props: {
  readonly vaultId: number;
  readonly balances: readonly Balance[];
  readonly addressBook: readonly { readonly chain: string; readonly address: string; readonly name: string }[];
  readonly fields: Fields;
  readonly write: (change: Partial<Fields>) => void;
  readonly discard: () => void;
  readonly drafted: (draft: Draft) => void;
}) {
  const { vaultId, balances, addressBook, fields, write, discard, drafted } = props;
  const [fault, setError] = useState<string | null>(null);
  const [oddity, setOddity] = useState<Oddity | null>(null);
  const [isRequesting, setRequesting] = useState(false);
  const balance = fields.asset === '' ? balances[0] : balances.find((one) => nameOf(one) === fields.asset);
  if (balance === undefined) return <NoAsset isDraft={fields.asset !== ''} discard={discard} />;
  const decimals = balance.asset.decimals ?? 0;
  const units = parseUnits(fields.amount, decimals);
  const submit = () => {
    if (units === null) {
      setError(amountHint(decimals));
      return;
    }
    const { chain, asset } = balance;
    const note = fields.note.trim();
    const memo = isOnSolana(chain) ? fields.memo.trim() : '';
    void estimate({
      vaultId,
      chain,
      tokenAddress: asset.tokenAddress,
      to: fields.to.trim(),
      amount: units,
      note: note === '' ? null : note,
      memo: memo === '' ? null : memo,
      recipientMayHaveNoKey: isOnSolana(chain) && fields.isKeyless === 'yes',
      recipientIsToken: false,
      acceptLookalikeOf: null,
    });
  };
  const estimate = async (input: TransferInput) => {
    const idempotencyKey = fields.idempotencyKey === '' ? crypto.randomUUID() : fields.idempotencyKey;
    setError(null);
    setOddity(null);
    setRequesting(true);
    const { note: _note, ...json } = input;
    try {
      const fees = await good<Estimate>(api.transaction['estimate-fee'].$post({ json }));
      write({ idempotencyKey });
      drafted({ input, balance, fees, idempotencyKey });
    } catch (error) {
      setError(reasonOf(error));
      if (error instanceof Refusal) setOddity(acceptedOddity(input, error));
      setRequesting(false);
    }
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label>
        Asset
        <select
          name="asset"
          value={nameOf(balance)}
          onChange={({ currentTarget }) => write({ asset: currentTarget.value })}
        >
          {balances.map((one) => (
            <option key={nameOf(one)} value={nameOf(one)}>
              {choiceName(one.asset, one.chain)}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">
        Balance: <Amount amount={balance.current} asset={balance.asset} />
        {balance.asset.tokenAddress !== null && (
          <>
            , contract <code>{balance.asset.tokenAddress}</code>
          </>
        )}
      </p>
      <label>
        To{' '}
        <input
          name="to"
          required
          autoComplete="off"
          spellcheck={false}
          list="known"
          value={fields.to}
          onInput={({ currentTarget }) => write({ to: currentTarget.value })}
        />
      </label>
      <datalist id="known">
        {addressBook
          .filter(({ chain }) => chain === balance.chain)
          .map(({ address, name }) => (
            <option key={address} value={address}>
              {name}
            </option>
          ))}
      </datalist>
      <label>
        Amount{balance.asset.decimals === null ? ' (smallest unit)' : ''}
        <input
          name="amount"
          required
          inputMode="decimal"
          autoComplete="off"
          value={fields.amount}
          // The amount is one of this asset, also when another one is the first in the list later.
          onInput={({ currentTarget }) => write({ amount: currentTarget.value, asset: nameOf(balance) })}
          aria-describedby="echo"
        />
      </label>
      <p id="echo" class="quiet echo">
        {units !== null && (
          <>
            Sends <Amount amount={units} asset={balance.asset} />
          </>
        )}
      </p>
      <label>
        Note (optional){' '}
        <input
          name="note"
          maxLength={500}
          autoComplete="off"
          value={fields.note}
          onInput={({ currentTarget }) => write({ note: currentTarget.value })}
        />
      </label>
      {isOnSolana(balance.chain) && <SolanaFields fields={fields} write={write} />}
      <button type="submit" disabled={isRequesting}>
        Review
      </button>
      {Object.values(fields).some((text) => text !== '') && (
        <button type="button" class="back" onClick={discard}>
          Start anew
        </button>
      )}
      <ErrorText why={fault} />
      {oddity !== null && (
        <button type="button" class="no" onClick={() => void estimate(oddity.input)}>
          {oddity.label}
        </button>
      )}
    </form>
  );
}

function NoAsset({ isDraft, discard }: { readonly isDraft: boolean; readonly discard: () => void }) {
  if (!isDraft) return <p class="quiet">The vault has no assets to send.</p>;
  return (
    <p>
      The vault no longer holds the asset of your draft.{' '}
      <button type="button" onClick={discard}>
        Start anew
      </button>
    </p>
  );
}

function SolanaFields({
  fields,
  write,
}: {
  readonly fields: Fields;
  readonly write: (change: Partial<Fields>) => void;
}) {
  return (
    <>
      <label>
        Memo on chain (required by some exchanges){' '}
        <input
          name="memo"
          maxLength={256}
          autoComplete="off"
          value={fields.memo}
          onInput={({ currentTarget }) => write({ memo: currentTarget.value })}
        />
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={fields.isKeyless === 'yes'}
          onChange={({ currentTarget }) => write({ isKeyless: currentTarget.checked ? 'yes' : '' })}
        />
        <span>The recipient may be a program address without a key</span>
      </label>
    </>
  );
}

/** Names the asset of a balance in the draft. */
function nameOf({ chain, asset }: Balance): string {
  return `${chain} ${asset.tokenAddress ?? ''}`;
}

/**
 * An odd recipient that a person can accept: the input that accepts it, and the text of the button.
 */
interface Oddity {
  readonly input: TransferInput;
  readonly label: string;
}

/** Returns the input that accepts what was refused; null where nothing can be accepted. */
function acceptedOddity(input: TransferInput, { code, known }: Refusal): Oddity | null {
  const { to } = input;
  if (code === 'recipient-is-token') {
    return { input: { ...input, recipientIsToken: true }, label: `Send to the token contract ${to} anyway` };
  }
  return known === null
    ? null
    : { input: { ...input, acceptLookalikeOf: known }, label: `Use ${to} anyway, not ${known}` };
}
