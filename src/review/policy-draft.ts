import { hexToBytes } from '@noble/hashes/utils.js';
import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { readPolicy } from '#devices/policy-document.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { parseUserId } from '#domain/id.ts';
import type { PolicyPatch } from '#domain/vault/next-policy.ts';
import { nextDraft, nextPolicy } from '#domain/vault/next-policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { differences } from '#review/describe-change.ts';
import type { Fact } from '#review/fact.ts';
import { PATCH_FAULTS } from '#review/patch-fault.ts';
import { weakenings } from '#review/weakenings.ts';
import type { WrittenRules } from '#review/written-rules.ts';
import { readRules } from '#review/written-rules.ts';

/** A policy change as its author writes it. An absent part stays as it is in the policy. */
export interface WrittenPatch extends WrittenRules {
  readonly signers?: readonly string[] | undefined;
  readonly threshold?: number | undefined;
  readonly approvalMode?: Policy['approvalMode'] | undefined;
}

/** What a draft of a policy change does, in the words of the approval page. */
export interface DraftReview {
  readonly changes: readonly Fact[];
  readonly warnings: readonly string[];
  /** What the service adds to the change when it is proposed, and this browser does not know. */
  readonly notes: readonly string[];
}

/** The policy in force, as the service sends it. */
export interface PolicyBytes {
  /** Canonical bytes, in hex. */
  readonly canonical: string;
  /** Whether it is the first policy and waits for its founding: a change is in force at once. */
  readonly isDraft: boolean;
}

type DraftReader = (patch: WrittenPatch) => Result<DraftReview, readonly FieldFault[]>;

/**
 * Returns a reader of patches of a policy. It returns what a patch would change, or every fault of
 * the patch. It computes the next policy with the rules of the service, as far as this build knows
 * the chains. Throws `InvalidDocument` for bytes that are no policy.
 */
export function draftReader({ canonical, isDraft }: PolicyBytes): DraftReader {
  const inForce = readPolicy(hexToBytes(canonical));
  const vault = { policy: inForce, keys: [] };
  return (patch) => {
    const read = readPatch(patch);
    if (!read.ok) return read;
    const next = isDraft ? nextDraft(vault, read.value) : nextPolicy(vault, read.value, policyHashOf(inForce));
    if (next.ok) return accepted(reviewOf(inForce, next.value, patch));
    const [pointer, detail] = PATCH_FAULTS[next.refusal];
    return refused([{ pointer, code: 'invalid', detail }]);
  };
}

function reviewOf(inForce: Policy, next: Policy, patch: WrittenPatch): DraftReview {
  const turnsToDevices = next.approvalMode === 'device' && inForce.approvalMode === 'token';
  const namesReceipts = patch.signOnce !== undefined || (!turnsToDevices && inForce.rules.signOnce !== undefined);
  // The default depends on the number of co-signers, which the policy may not name.
  const isReceiptsUnknown = next.approvalMode === 'device' && !namesReceipts;
  const proposed = isReceiptsUnknown ? withReceiptsOf(inForce, next) : next;
  const notes = [
    ...(isReceiptsUnknown ? ['The service chooses the rule for co-signer receipts by the number of co-signers.'] : []),
    ...(turnsToDevices && inForce.cosigners === undefined
      ? ['The service adds the keys of the co-signers. The approval page shows them.']
      : []),
  ];
  return { changes: differences(inForce, proposed), warnings: weakenings(inForce, proposed), notes };
}

function withReceiptsOf({ rules: { signOnce } }: Policy, proposed: Policy): Policy {
  const { signOnce: _guessed, ...rules } = proposed.rules;
  return { ...proposed, rules: { ...rules, ...(signOnce === undefined ? {} : { signOnce }) } };
}

/** Returns a patch for the next policy, or its faults with the pointers that the service gives. */
function readPatch(patch: WrittenPatch): Result<PolicyPatch, readonly FieldFault[]> {
  const rules = readRules(BUILT_IN_CHAINS, patch);
  if (!rules.ok) return rules;
  const { signers = null, threshold, approvalMode } = patch;
  const named = (signers ?? []).map(parseUserId);
  const absent = named.indexOf(null);
  if (absent >= 0) {
    return refused([{ pointer: `/signers/${absent}`, code: 'invalid', detail: 'There is no user with this id.' }]);
  }
  return accepted({
    rules: rules.value,
    ...(signers === null ? {} : { signers: named.filter((id) => id !== null) }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(approvalMode === undefined ? {} : { approvalMode }),
  });
}
