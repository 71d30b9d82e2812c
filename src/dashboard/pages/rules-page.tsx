import { useState } from 'preact/hooks';
import type { InferResponseType } from 'hono/client';
import { mayIn, MissingRole } from '#dashboard/access.tsx';
import type { Balance, OwnVault } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { balancesOf } from '#dashboard/lists.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import type { AssetChoice, RulesDraft } from '#dashboard/forms/rules-draft.ts';
import { assetChoices, BadRule, draftOf, patchOf } from '#dashboard/forms/rules-draft.ts';

type Line = (typeof api.vault)[':vaultId'];
type Policy = InferResponseType<Line['policy']['$get']>['policy'];

/**
 * Edits a policy: signers, threshold, recipients and limits. The form proposes it, and the signers
 * decide.
 */
export function RulesPage({ vault }: { readonly vault: OwnVault }) {
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  const { loaded, reload } = useLoaded(`rules ${vault.id}`, async () => {
    const { policy } = await good(line.policy.$get({ param, query: {} }));
    const balances = await balancesOf(param.vaultId);
    return { policy, balances };
  });
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}/policy`}>Policy of {vault.name}</a>
      </p>
      <h1>Edit policy</h1>
      <LoadedContent loaded={loaded} what="the policy" again={reload}>
        {({ policy, balances }) =>
          mayIn(vault, 'propose') ? (
            <Form vault={vault} policy={policy} balances={balances} />
          ) : (
            <MissingRole vault={vault} needs="signer or admin" />
          )
        }
      </LoadedContent>
    </main>
  );
}

function Form(props: { readonly vault: OwnVault; readonly policy: Policy; readonly balances: readonly Balance[] }) {
  const { vault, policy, balances } = props;
  const [draft, write] = useState<RulesDraft>(() => draftOf(policy, assetChoices(policy, balances)));
  const assets = assetChoices(policy, balances, draft.tokens);
  const [fault, setError] = useState<string | null>(null);
  const [isSending, send] = useState(false);
  const set = (change: Partial<RulesDraft>) => write((before) => ({ ...before, ...change }));
  const propose = async () => {
    const json = patchOf(draft, policy, assets);
    await good(api.vault[':vaultId']['policy-change'].$post({ param: { vaultId: String(vault.id) }, json }));
    location.hash = `#/vault/${vault.id}/policy`;
  };
  const chains = vault.wallets.map(({ chain }) => chain);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(true);
        setError(null);
        propose()
          .catch((error: unknown) => setError(error instanceof BadRule ? error.message : reasonOf(error)))
          .finally(() => send(false));
      }}
    >
      <fieldset>
        <legend>Signers</legend>
        {[...new Set([...vault.members.map(({ userId }) => userId), ...policy.signers])].map((userId) => (
          <label key={userId} class="choice">
            <input
              type="checkbox"
              checked={draft.signers.includes(userId)}
              onChange={({ currentTarget: { checked } }) =>
                set({
                  signers: checked ? [...draft.signers, userId] : draft.signers.filter((one) => one !== userId),
                })
              }
            />
            <span>
              <MemberLabel userId={userId} />
            </span>
          </label>
        ))}
        <Field name="Approval threshold" value={draft.threshold} set={(threshold) => set({ threshold })} />
        <Choice
          name="Approval method"
          value={draft.approvalMode}
          choices={{ token: 'Signed-in user or API token', device: 'Passkey or device key required' }}
          set={(approvalMode) => set({ approvalMode: approvalMode === 'device' ? 'device' : 'token' })}
        />
        <Field
          name="Approvals for undecodable calls (empty: refused)"
          value={draft.unreadableThreshold}
          set={(unreadableThreshold) => set({ unreadableThreshold })}
        />
      </fieldset>
      <fieldset>
        <legend>Recipients</legend>
        <Choice
          name="Allowed recipients"
          value={draft.recipients}
          choices={{ anyone: 'Anyone', 'address-book': 'Address book only' }}
          set={(recipients) => set({ recipients: recipients === 'anyone' ? 'anyone' : 'address-book' })}
        />
        <Rows
          name="address"
          rows={draft.addressBook}
          blank={{ chain: chains[0] ?? '', address: '', name: '' }}
          set={(addressBook) => set({ addressBook })}
        >
          {(entry, change) => (
            <>
              <Field name="Name" value={entry.name} set={(name) => change({ ...entry, name })} />
              <ChainChoice chains={chains} value={entry.chain} set={(chain) => change({ ...entry, chain })} />
              <Field isWide name="Address" value={entry.address} set={(address) => change({ ...entry, address })} />
            </>
          )}
        </Rows>
      </fieldset>
      <fieldset>
        <legend>Tokens</legend>
        <p class="quiet">
          Signers see amounts of these tokens with symbol and decimals, also on the approval page. Take the contract
          from the issuer of the token.
        </p>
        <Rows
          name="token"
          rows={draft.tokens}
          blank={{ chain: chains[0] ?? '', tokenAddress: '', symbol: '', decimals: '' }}
          set={(tokens) => set({ tokens })}
        >
          {(token, change) => (
            <>
              <ChainChoice chains={chains} value={token.chain} set={(chain) => change({ ...token, chain })} />
              <Field
                name="Contract"
                value={token.tokenAddress}
                set={(one) => change({ ...token, tokenAddress: one })}
              />
              <Field name="Symbol" value={token.symbol} set={(symbol) => change({ ...token, symbol })} />
              <Field name="Decimals" value={token.decimals} set={(decimals) => change({ ...token, decimals })} />
            </>
          )}
        </Rows>
      </fieldset>
      <fieldset>
        <legend>Limits</legend>
        <Rows
          name="limit"
          rows={draft.limits}
          blank={{ asset: '', perTransaction: '', perDay: '' }}
          set={(limits) => set({ limits })}
        >
          {(limit, change) => (
            <>
              <Asset assets={assets} value={limit.asset} set={(asset) => change({ ...limit, asset })} />
              <Field
                name="Per transaction"
                value={limit.perTransaction}
                set={(perTransaction) => change({ ...limit, perTransaction })}
              />
              <Field name="Per 24 hours" value={limit.perDay} set={(perDay) => change({ ...limit, perDay })} />
            </>
          )}
        </Rows>
        <Rows
          name="higher threshold"
          rows={draft.higherThresholds}
          blank={{ asset: '', above: '', threshold: '' }}
          set={(higherThresholds) => set({ higherThresholds })}
        >
          {(step, change) => (
            <>
              <Asset assets={assets} value={step.asset} set={(asset) => change({ ...step, asset })} />
              <Field name="Amount above" value={step.above} set={(above) => change({ ...step, above })} />
              <Field name="Approvals" value={step.threshold} set={(threshold) => change({ ...step, threshold })} />
            </>
          )}
        </Rows>
      </fieldset>
      <fieldset>
        <legend>Fees and signatures</legend>
        <Rows
          name="maximum fee"
          rows={draft.maxFees}
          blank={{ chain: chains[0] ?? '', amount: '' }}
          set={(maxFees) => set({ maxFees })}
        >
          {(cap, change) => (
            <>
              <ChainChoice chains={chains} value={cap.chain} set={(chain) => change({ ...cap, chain })} />
              <Field name="Maximum fee" value={cap.amount} set={(amount) => change({ ...cap, amount })} />
            </>
          )}
        </Rows>
        {OPTIONAL.map(({ field, name, choices }) => (
          <Choice
            key={field}
            name={name}
            value={draft[field]}
            choices={draft[field] === '' ? { '': 'Not in the policy', ...choices } : choices}
            set={(value) => set({ [field]: value })}
          />
        ))}
      </fieldset>
      <Field name="Reason" value={draft.note} set={(note) => set({ note })} />
      <ErrorText why={fault} />
      <button type="submit" disabled={isSending}>
        Submit for approval
      </button>
    </form>
  );
}

/** Rules that a policy of an earlier release does not have. */
const OPTIONAL = [
  {
    field: 'limitsIncludeFees',
    name: 'Fees count toward limits',
    choices: { true: 'Yes', false: 'No' },
  },
  {
    field: 'signOnce',
    name: 'Co-signer receipts',
    choices: { 'every-cosigner': 'Of every co-signer', quorum: 'Of those that sign together' },
  },
  {
    field: 'requiredDevice',
    name: 'Required device',
    choices: { any: 'Any device', ed25519: 'At least one Ed25519 device' },
  },
  {
    field: 'unboundMessages',
    name: 'Messages that are valid on every chain',
    choices: { allow: 'Allowed', refuse: 'Refused' },
  },
] as const;

function Field(props: {
  readonly name: string;
  readonly value: string;
  readonly set: (value: string) => void;
  /** True for a value that must be seen whole, such as an address. */
  readonly isWide?: boolean;
}) {
  return (
    <label>
      {props.name}
      <input
        value={props.value}
        data-wide={props.isWide === true ? '' : undefined}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => props.set(event.currentTarget.value)}
      />
    </label>
  );
}

function Choice(props: {
  readonly name: string;
  readonly value: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly set: (value: string) => void;
}) {
  return (
    <label>
      {props.name}
      <select value={props.value} onChange={(event) => props.set(event.currentTarget.value)}>
        {Object.entries(props.choices).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function ChainChoice(props: {
  readonly chains: readonly string[];
  readonly value: string;
  readonly set: (chain: string) => void;
}) {
  const chains = [...new Set([...props.chains, props.value])];
  const choices = Object.fromEntries(chains.map((chain) => [chain, chain]));
  return <Choice name="Chain" value={props.value} choices={choices} set={props.set} />;
}

function Asset(props: {
  readonly assets: readonly AssetChoice[];
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  const choices = { '': 'Choose an asset', ...Object.fromEntries(props.assets.map(({ name, text }) => [name, text])) };
  return <Choice name="Asset" value={props.value} choices={choices} set={props.set} />;
}

/** Lists the rules of one kind, with a button to remove each and a way to add one. */
function Rows<T>(props: {
  readonly name: string;
  readonly rows: readonly T[];
  readonly blank: T;
  readonly set: (rows: readonly T[]) => void;
  readonly children: (row: T, change: (row: T) => void) => preact.ComponentChildren;
}) {
  const { name, rows, blank, set, children } = props;
  return (
    <>
      {rows.map((row, i) => (
        <div key={i} class="rule" role="group" aria-label={`${name} ${i + 1}`}>
          {children(row, (changed) => set(rows.with(i, changed)))}
          <button type="button" class="no" onClick={() => set(rows.toSpliced(i, 1))}>
            Remove
          </button>
        </div>
      ))}
      <p>
        <button type="button" onClick={() => set([...rows, blank])}>
          Add {/^[aeiou]/.test(name) ? 'an' : 'a'} {name}
        </button>
      </p>
    </>
  );
}
