import type { OwnVault, Policy } from '#dashboard/api.ts';
import type { AssetChoice, RulesDraft } from '#dashboard/forms/rules-draft.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { AddressField, Asset, ChainChoice, Choice, Field, GroupFault, Rows } from '#dashboard/policy/fields.tsx';

/** The parts of the form that edits a policy. */

interface Editing {
  readonly draft: RulesDraft;
  readonly write: (change: Partial<RulesDraft>) => void;
}

/** Who approves, how many of them, and how. */
export function SignersFields({
  draft,
  write,
  members,
  policy,
}: Editing & { readonly members: OwnVault['members']; readonly policy: Policy }) {
  return (
    <fieldset>
      <legend>Signers</legend>
      <People
        from={[...members.map(({ userId }) => userId), ...policy.signers]}
        chosen={draft.signers}
        set={(signers) => write({ signers })}
      />
      <GroupFault at="/signers" />
      <Field
        name="Approval threshold"
        at="/threshold"
        value={draft.threshold}
        set={(threshold) => write({ threshold })}
      />
      <Choice
        name="Approval method"
        at="/approvalMode"
        value={draft.approvalMode}
        choices={{ token: 'Signed-in user or API token', device: 'Passkey or device key required' }}
        set={(approvalMode) => write({ approvalMode: approvalMode === 'device' ? 'device' : 'token' })}
      />
      <Field
        name="Approvals for undecodable calls (empty: refused)"
        at="/unreadableThreshold"
        value={draft.unreadableThreshold}
        set={(unreadableThreshold) => write({ unreadableThreshold })}
      />
      <Field
        name="Rejections that end a transaction (empty: 1)"
        at="/rejections"
        value={draft.rejections}
        set={(rejections) => write({ rejections })}
      />
    </fieldset>
  );
}

/** Who is no member, whatever an operator sets. A signer is removed above. */
export function ExcludedFields({ draft, write, members }: Editing & { readonly members: OwnVault['members'] }) {
  const others = members.map(({ userId }) => userId).filter((userId) => !draft.signers.includes(userId));
  return (
    <fieldset>
      <legend>Excluded from the vault</legend>
      <p class="quiet">
        A chosen person is no member any more, in any role, and no operator can add this person again. Remove a signer
        above first.
      </p>
      <People
        from={[...others, ...draft.excludedMembers]}
        chosen={draft.excludedMembers}
        set={(excludedMembers) => write({ excludedMembers })}
      />
      <GroupFault at="/excludedMembers" />
    </fieldset>
  );
}

/** A choice of any number of people. */
function People(props: {
  readonly from: readonly string[];
  readonly chosen: readonly string[];
  readonly set: (chosen: readonly string[]) => void;
}) {
  const { from, chosen, set } = props;
  return (
    <>
      {[...new Set(from)].map((userId) => (
        <label key={userId} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(userId)}
            onChange={({ currentTarget: { checked } }) =>
              set(checked ? [...chosen, userId] : chosen.filter((one) => one !== userId))
            }
          />
          <span>
            <MemberLabel userId={userId} />
          </span>
        </label>
      ))}
    </>
  );
}

/** Who can be paid. */
export function RecipientsFields({ draft, write, chains }: Editing & { readonly chains: readonly string[] }) {
  return (
    <fieldset>
      <legend>Recipients</legend>
      <Choice
        name="Allowed recipients"
        at="/recipients"
        value={draft.recipients}
        choices={{ anyone: 'Anyone', 'address-book': 'Address book only' }}
        set={(recipients) => write({ recipients: recipients === 'anyone' ? 'anyone' : 'address-book' })}
      />
      <Rows
        name="address"
        at="/addressBook"
        rows={draft.addressBook}
        blank={{ chain: chains[0] ?? '', address: '', name: '' }}
        set={(addressBook) => write({ addressBook })}
      >
        {(of) => (
          <>
            <Field name="Name" {...of('name')} />
            <ChainChoice chains={chains} {...of('chain')} />
            <AddressField name="Address" {...of('address')} />
          </>
        )}
      </Rows>
    </fieldset>
  );
}

/** The tokens that the quorum names. */
export function TokensFields({ draft, write, chains }: Editing & { readonly chains: readonly string[] }) {
  return (
    <fieldset>
      <legend>Tokens</legend>
      <p class="quiet">
        Signers see amounts of these tokens with symbol and decimals, also on the approval page. Take the contract from
        the issuer of the token.
      </p>
      <Rows
        name="token"
        at="/tokens"
        rows={draft.tokens}
        blank={{ chain: chains[0] ?? '', tokenAddress: '', symbol: '', decimals: '' }}
        set={(tokens) => write({ tokens })}
      >
        {(of) => (
          <>
            <ChainChoice chains={chains} {...of('chain')} />
            <AddressField name="Contract" {...of('tokenAddress')} />
            <Field name="Symbol" {...of('symbol')} />
            <Field name="Decimals" {...of('decimals')} />
          </>
        )}
      </Rows>
    </fieldset>
  );
}

/** How much can be paid, and what needs more approvals. */
export function LimitsFields({ draft, write, assets }: Editing & { readonly assets: readonly AssetChoice[] }) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <Rows
        name="limit"
        at="/limits"
        rows={draft.limits}
        blank={{ asset: '', perTransaction: '', perDay: '' }}
        set={(limits) => write({ limits })}
      >
        {(of, at) => (
          <>
            <Asset {...of('asset')} at={at} assets={assets} />
            <Field name="Per transaction" {...of('perTransaction')} />
            <Field name="Per 24 hours" {...of('perDay')} />
          </>
        )}
      </Rows>
      <Rows
        name="higher threshold"
        at="/higherThresholds"
        rows={draft.higherThresholds}
        blank={{ asset: '', above: '', threshold: '' }}
        set={(higherThresholds) => write({ higherThresholds })}
      >
        {(of, at) => (
          <>
            <Asset {...of('asset')} at={at} assets={assets} />
            <Field name="Amount above" {...of('above')} />
            <Field name="Approvals" {...of('threshold')} />
          </>
        )}
      </Rows>
    </fieldset>
  );
}

/** The highest fees, and the rules of later releases. */
export function FeesFields({ draft, write, chains }: Editing & { readonly chains: readonly string[] }) {
  return (
    <fieldset>
      <legend>Fees and signatures</legend>
      <Rows
        name="maximum fee"
        at="/maxFees"
        rows={draft.maxFees}
        blank={{ chain: chains[0] ?? '', amount: '' }}
        set={(maxFees) => write({ maxFees })}
      >
        {(of) => (
          <>
            <ChainChoice chains={chains} {...of('chain')} />
            <Field name="Maximum fee" {...of('amount')} />
          </>
        )}
      </Rows>
      {OPTIONAL.map(({ field, name, choices }) => (
        <Choice
          key={field}
          name={name}
          at={`/${field}`}
          value={draft[field]}
          choices={draft[field] === '' ? { '': 'Not in the policy', ...choices } : choices}
          set={(value) => write({ [field]: value })}
        />
      ))}
    </fieldset>
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
