import { useState } from 'preact/hooks';
import type { Balance, OwnVault, Person, Policy } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import type { RulesDraft } from '#dashboard/forms/rules-draft.ts';
import { assetChoices, BadRule, draftOf, keptDraft, patchOf } from '#dashboard/forms/rules-draft.ts';
import { ErrorText, reasonOf } from '#dashboard/shell/loading.tsx';
import { DraftDifference } from '#dashboard/policy/draft-difference.tsx';
import { Field, FieldFaults } from '#dashboard/policy/fields.tsx';
import {
  ExcludedFields,
  FeesFields,
  LimitsFields,
  RecipientsFields,
  SignersFields,
  TokensFields,
} from '#dashboard/policy/rules-fieldsets.tsx';
import { useDraft } from '#dashboard/shell/draft.ts';
import { openPage } from '#dashboard/shell/navigation.ts';
import type { FieldFault } from '#dashboard/problem-text.ts';

/** Why a draft was not proposed. The draft stays as it is. */
interface Rejected {
  readonly text: string;
  readonly faults: readonly FieldFault[];
}

function rejectedBy(error: unknown): Rejected {
  if (error instanceof BadRule) return { text: error.message, faults: error.faults };
  return { text: reasonOf(error), faults: error instanceof Refusal ? error.faults : [] };
}

/** Edits a draft of the next policy, shows what it changes, and proposes it. */
export function RulesForm(props: {
  readonly vault: OwnVault;
  readonly me: Person;
  readonly policy: Policy;
  /** Whether the policy waits for its founding. */
  readonly isDraft: boolean;
  readonly balances: readonly Balance[];
}) {
  const { vault, me, policy, isDraft, balances } = props;
  // A draft is one of this version: over another one it would undo what that one changed.
  const { draft, write, discard } = useDraft<RulesDraft>(
    `${me.id} rules ${vault.id} ${policy.version}`,
    () => draftOf(policy, assetChoices(policy, balances)),
    keptDraft,
  );
  const assets = assetChoices(policy, balances, draft.tokens);
  const [rejected, setRejected] = useState<Rejected | null>(null);
  const [isSending, send] = useState(false);
  const propose = async () => {
    const json = patchOf(draft, policy, assets);
    await good(api.vault[':vaultId']['policy-change'].$post({ param: { vaultId: String(vault.id) }, json }));
    discard();
    openPage(`/vault/${vault.id}/policy`);
  };
  const chains = vault.wallets.map(({ chain }) => chain);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(true);
        setRejected(null);
        propose()
          .catch((error: unknown) => setRejected(rejectedBy(error)))
          .finally(() => send(false));
      }}
    >
      <FieldFaults faults={rejected?.faults ?? []}>
        <SignersFields draft={draft} write={write} members={vault.members} policy={policy} />
        <ExcludedFields draft={draft} write={write} members={vault.members} />
        <RecipientsFields draft={draft} write={write} chains={chains} />
        <TokensFields draft={draft} write={write} chains={chains} />
        <LimitsFields draft={draft} write={write} assets={assets} />
        <FeesFields draft={draft} write={write} chains={chains} />
        <Field name="Reason" at="/note" value={draft.note} set={(note) => write({ note })} />
      </FieldFaults>
      <DraftDifference draft={draft} policy={policy} assets={assets} isDraft={isDraft} />
      <ErrorText why={rejected?.text ?? null} />
      <button type="submit" disabled={isSending}>
        Submit for approval
      </button>
      <button type="button" class="back" onClick={discard}>
        Start anew
      </button>
    </form>
  );
}
