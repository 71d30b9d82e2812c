import type { OwnVault, Policy } from '#dashboard/api.ts';
import { useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { ReviewFacts } from '#dashboard/decision/review-facts.tsx';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';
import { sentencesOf } from '#dashboard/policy/policy-reader.ts';

/** Shows the policy in force: its rules as sentences, read from its bytes, and its people. */
export function InForce(props: {
  readonly policy: Policy;
  readonly members: OwnVault['members'];
  /** Null for a member who may not propose the removal. */
  readonly remove: ((keyId: string) => void) | null;
}) {
  const { policy, members, remove } = props;
  const origins = useApprovalOrigins();
  const others = members.map(({ userId }) => userId).filter((userId) => !policy.signers.includes(userId));
  const { version, signers, devices, addressBook, canonical, hash } = policy;
  const { loaded, reload } = useLoaded(`sentences of ${hash}`, () => sentencesOf(canonical));
  return (
    <>
      <div class="sentences">
        <LoadedContent loaded={loaded} what="the rules" again={reload}>
          {(facts) => <ReviewFacts facts={facts} />}
        </LoadedContent>
      </div>
      <dl class="facts">
        <div>
          <dt>Signers</dt>
          <dd>
            <Names userIds={signers} />
          </dd>
        </div>
        {others.length > 0 && (
          <div>
            <dt>Other members</dt>
            <dd>
              <Names userIds={others} />
            </dd>
          </div>
        )}
        <div>
          <dt>Devices</dt>
          <dd>
            <ul class="plain">
              {devices.map(({ keyId, userId, algorithm, rpId, origin: page }) => (
                <li key={keyId}>
                  {algorithm === 'ed25519' ? 'Device key (Ed25519)' : `Passkey of ${rpId ?? ''}`}, owned by{' '}
                  <MemberLabel userId={userId} />, <Hash value={keyId} />{' '}
                  {origins.length > 0 && page !== null && !origins.includes(page) && (
                    <strong>not a passkey of an approval page, replace it</strong>
                  )}{' '}
                  {remove !== null && (
                    <button type="button" onClick={() => remove(keyId)}>
                      Remove
                    </button>
                  )}
                </li>
              ))}
              {devices.length === 0 && <li class="quiet">None</li>}
            </ul>
          </dd>
        </div>
        <div>
          <dt>Address book</dt>
          <dd>
            <ul class="plain">
              {addressBook.map(({ chain, address, name }) => (
                <li key={`${chain} ${address}`}>
                  {name} on {chain}: <code>{address}</code>
                </li>
              ))}
              {addressBook.length === 0 && <li class="quiet">Empty</li>}
            </ul>
          </dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>
            {version}, hash <Hash value={hash} />
          </dd>
        </div>
      </dl>
    </>
  );
}

function Names({ userIds }: { readonly userIds: readonly string[] }) {
  return (
    <ul class="plain">
      {userIds.map((userId) => (
        <li key={userId}>
          <MemberLabel userId={userId} />
        </li>
      ))}
    </ul>
  );
}
