import { useState } from 'preact/hooks';
import type { InferResponseType } from 'hono/client';
import { mayIn, MissingRole } from '#dashboard/access.tsx';
import type { Balance, OwnVault } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import { balancesOf } from '#dashboard/lists.ts';
import { typedValue } from '#dashboard/forms/number-input.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { byTrust, choiceName } from '#dashboard/amounts/asset-name.ts';
import { amountHint, parseUnits } from '#dashboard/amounts/money.ts';
import { isOnSolana } from '#dashboard/text.ts';

type Estimate = InferResponseType<(typeof api.transaction)['estimate-fee']['$post']>;

const SPEEDS = ['slow', 'normal', 'fast'] as const;
const SPEED_NAMES = { slow: 'Slow', normal: 'Normal', fast: 'Fast' } as const;
type Speed = (typeof SPEEDS)[number];

interface TransferInput {
  readonly vaultId: number;
  readonly chain: string;
  readonly tokenAddress: string | null;
  readonly to: string;
  /** The amount in the smallest unit. */
  readonly amount: string;
  readonly note: string | null;
  /** The memo that the payment writes on the chain (Solana). */
  readonly memo: string | null;
  /** True when the recipient may be an address of a program, which has no key (Solana). */
  readonly recipientMayHaveNoKey: boolean;
  readonly recipientIsToken: boolean;
  /**
   * The known address that the recipient resembles, when the reader has confirmed the recipient.
   */
  readonly acceptLookalikeOf: string | null;
}

/** A transfer before it is created, with its estimated fee. The reader reviews it first. */
interface Draft {
  readonly input: TransferInput;
  readonly balance: Balance;
  readonly fees: Estimate;
  /** The key is the same for each retry, so a lost response does not create a second transfer. */
  readonly idempotencyKey: string;
}

/** Creates a transfer: the form, the estimated fee, then the review of exactly what is sent. */
export function TransferPage({ vault }: { readonly vault: OwnVault }) {
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  const { loaded, reload } = useLoaded(`transfer ${vault.id}`, async () => {
    const balances = await balancesOf(param.vaultId);
    const { addressBook } = (await good(line.policy.$get({ param, query: {} }))).policy;
    // The tokens of a collection are paid by another standard.
    return { balances: balances.filter(({ tokenId }) => tokenId === null).toSorted(byTrust), addressBook };
  });
  const [draft, review] = useState<Draft | null>(null);
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}`}>{vault.name}</a>
      </p>
      <h1>New transfer</h1>
      <LoadedContent loaded={loaded} what="the balances" again={reload}>
        {({ balances, addressBook }) =>
          !mayIn(vault, 'create') ? (
            <MissingRole vault={vault} needs="initiator or signer" />
          ) : draft === null ? (
            <Form vaultId={vault.id} balances={balances} addressBook={addressBook} drafted={review} />
          ) : (
            <Review draft={draft} back={() => review(null)} />
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
  readonly drafted: (draft: Draft) => void;
}) {
  const { vaultId, balances, addressBook, drafted } = props;
  const [fault, setError] = useState<string | null>(null);
  const [oddity, setOddity] = useState<Oddity | null>(null);
  const [isRequesting, setRequesting] = useState(false);
  const [position, choose] = useState(0);
  const [isKeyless, acknowledge] = useState(false);
  const balance = balances[position];
  if (balance === undefined) return <p class="quiet">The vault has no assets to send.</p>;
  const submit = (event: SubmitEvent) => {
    const typed = typedValue(event);
    const amount = parseUnits(typed('amount'), balance.asset.decimals ?? 0);
    if (amount === null) {
      setError(amountHint(balance.asset.decimals ?? 0));
      return;
    }
    const { chain, asset } = balance;
    const note = typed('note').trim();
    const memo = isOnSolana(chain) ? typed('memo').trim() : '';
    const input: TransferInput = {
      vaultId,
      chain,
      tokenAddress: asset.tokenAddress,
      to: typed('to').trim(),
      amount,
      note: note === '' ? null : note,
      memo: memo === '' ? null : memo,
      recipientMayHaveNoKey: isOnSolana(chain) && isKeyless,
      recipientIsToken: false,
      acceptLookalikeOf: null,
    };
    estimate(input);
  };
  const estimate = (input: TransferInput) => {
    setError(null);
    setOddity(null);
    setRequesting(true);
    const { note: _note, ...json } = input;
    good<Estimate>(api.transaction['estimate-fee'].$post({ json }))
      .then(
        (fees) => drafted({ input, balance, fees, idempotencyKey: crypto.randomUUID() }),
        (error: unknown) => {
          setError(reasonOf(error));
          if (error instanceof Refusal) setOddity(acceptedOddity(input, error));
        },
      )
      .finally(() => setRequesting(false));
  };
  return (
    <form class="card" onSubmit={submit}>
      <label>
        Asset
        <select name="asset" value={position} onChange={(event) => choose(event.currentTarget.selectedIndex)}>
          {balances.map(({ chain, asset }, i) => (
            <option key={`${chain} ${asset.tokenAddress}`} value={i}>
              {choiceName(asset, chain)}
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
        To <input name="to" required autoComplete="off" spellcheck={false} list="known" />
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
        <input name="amount" required inputMode="decimal" autoComplete="off" />
      </label>
      <label>
        Note (optional) <input name="note" maxLength={500} autoComplete="off" />
      </label>
      {isOnSolana(balance.chain) && (
        <>
          <label>
            Memo on chain (required by some exchanges) <input name="memo" maxLength={256} autoComplete="off" />
          </label>
          <label class="choice">
            <input
              type="checkbox"
              checked={isKeyless}
              onChange={({ currentTarget }) => acknowledge(currentTarget.checked)}
            />
            <span>The recipient may be a program address without a key</span>
          </label>
        </>
      )}
      <button type="submit" disabled={isRequesting}>
        Review
      </button>
      <ErrorText why={fault} />
      {oddity !== null && (
        <button type="button" class="no" onClick={() => estimate(oddity.input)}>
          {oddity.label}
        </button>
      )}
    </form>
  );
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

function Review({ draft, back }: { readonly draft: Draft; readonly back: () => void }) {
  const { input, balance, fees, idempotencyKey } = draft;
  const [fault, setError] = useState<string | null>(null);
  const [isSending, send] = useState(false);
  const [speed, choose] = useState<Speed>('normal');
  const tokenFee = 'tokenFee' in fees && fees.tokenFee !== '0' ? fees.tokenFee : null;
  const create = () => {
    send(true);
    setError(null);
    const headers = { 'Idempotency-Key': `${idempotencyKey}-${speed}` };
    const allowed = tokenFee === null ? {} : { maxTokenFee: tokenFee };
    const maxFee = fees[speed].suggestedMaxFee;
    good(api.transaction.transfer.$post({ json: { ...input, ...allowed, maxFee, speed } }, { headers }))
      .then(
        ({ id }) => (location.hash = `#/transaction/${id}`),
        (error: unknown) => setError(reasonOf(error)),
      )
      .finally(() => send(false));
  };
  return (
    <section class="card" aria-labelledby="review">
      <h2 id="review">Review transfer</h2>
      <dl class="facts">
        <div>
          <dt>Send</dt>
          <dd>
            <Amount amount={input.amount} asset={balance.asset} /> on {input.chain}
          </dd>
        </div>
        <div>
          <dt>To</dt>
          <dd>
            <code>{input.to}</code>
          </dd>
        </div>
        {input.recipientMayHaveNoKey && (
          <div>
            <dt>Recipient key</dt>
            <dd>The address may have no key. Only its program can move what it receives.</dd>
          </div>
        )}
        {input.recipientIsToken && (
          <div>
            <dt>Recipient is the token</dt>
            <dd>The address is the contract of the token, which can seldom return what it receives.</dd>
          </div>
        )}
        {tokenFee !== null && (
          <div>
            <dt>Withheld by the token</dt>
            <dd>
              At most <Amount amount={tokenFee} asset={balance.asset} /> of it. The recipient gets the rest.
            </dd>
          </div>
        )}
        {input.memo !== null && (
          <div>
            <dt>Memo on chain</dt>
            <dd>{input.memo}</dd>
          </div>
        )}
        {input.note !== null && (
          <div>
            <dt>Note</dt>
            <dd>{input.note}</dd>
          </div>
        )}
        {input.acceptLookalikeOf !== null && (
          <div>
            <dt>Similar to</dt>
            <dd>
              <code>{input.acceptLookalikeOf}</code> (requires one extra approval)
            </dd>
          </div>
        )}
      </dl>
      <fieldset>
        <legend>Fee</legend>
        {SPEEDS.map((tier) => (
          <label key={tier} class="choice">
            <input type="radio" name="speed" checked={speed === tier} onChange={() => choose(tier)} />
            <span>
              {SPEED_NAMES[tier]}: expected <Amount amount={fees[tier].expectedFee} asset={fees.feeAsset} />
              {', at most '}
              <Amount amount={fees[tier].suggestedMaxFee} asset={fees.feeAsset} /> (includes a margin for speed-ups)
            </span>
          </label>
        ))}
      </fieldset>
      <ErrorText why={fault} />
      <button type="button" class="yes" disabled={isSending} onClick={create}>
        Submit for approval
      </button>
      <button type="button" class="back" onClick={back}>
        Back
      </button>
    </section>
  );
}
