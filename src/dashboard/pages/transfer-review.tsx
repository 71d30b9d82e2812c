import { useState } from 'preact/hooks';
import type { InferResponseType } from 'hono/client';
import type { Balance } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import { ErrorText, reasonOf } from '#dashboard/shell/loading.tsx';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { openPage } from '#dashboard/shell/navigation.ts';

export type Estimate = InferResponseType<(typeof api.transaction)['estimate-fee']['$post']>;

const SPEEDS = ['slow', 'normal', 'fast'] as const;
const SPEED_NAMES = { slow: 'Slow', normal: 'Normal', fast: 'Fast' } as const;
type Speed = (typeof SPEEDS)[number];

export interface TransferInput {
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
export interface Draft {
  readonly input: TransferInput;
  readonly balance: Balance;
  readonly fees: Estimate;
  /**
   * The key is the same for each attempt with these inputs, also with another fee or after a
   * reload. A lost response does not lead to a second transfer.
   */
  readonly idempotencyKey: string;
}

/** Shows exactly what is sent, and creates the transfer. */
export function TransferReview(props: {
  readonly draft: Draft;
  readonly back: () => void;
  /** The transfer exists, so its inputs are no longer needed. */
  readonly created: () => void;
}) {
  const { draft, back, created } = props;
  const { input, balance, fees, idempotencyKey } = draft;
  const [fault, setError] = useState<string | null>(null);
  const [isSending, send] = useState(false);
  const [speed, choose] = useState<Speed>('normal');
  const tokenFee = 'tokenFee' in fees && fees.tokenFee !== '0' ? fees.tokenFee : null;
  const create = async () => {
    send(true);
    setError(null);
    const headers = { 'Idempotency-Key': idempotencyKey };
    const allowed = tokenFee === null ? {} : { maxTokenFee: tokenFee };
    const json = { ...input, ...allowed, maxFee: fees[speed].suggestedMaxFee, speed };
    try {
      const { id } = await good(api.transaction.transfer.$post({ json }, { headers }));
      created();
      openPage(`/transaction/${id}`);
    } catch (error) {
      setError(isRepeated(error) ? REPEATED : reasonOf(error));
      send(false);
    }
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
      <button type="button" class="yes" disabled={isSending} onClick={() => void create()}>
        Submit for approval
      </button>
      <button type="button" class="back" onClick={back}>
        Back
      </button>
    </section>
  );
}

const REPEATED =
  'A transfer with these inputs was already submitted, with another fee. Look for it in the history of the vault. To ' +
  'pay a second time, go back and choose “Start anew”.';

/** Reports whether the service has a transfer with this key already, of another fee. */
function isRepeated(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'idempotency-key-reused';
}
