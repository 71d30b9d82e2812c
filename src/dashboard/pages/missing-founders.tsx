import type { InferResponseType } from 'hono/client';
import type { api } from '#dashboard/api.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

type PolicyInForce = InferResponseType<(typeof api.vault)[':vaultId']['policy']['$get']>;
type Founding = NonNullable<PolicyInForce['founding']>;

/**
 * Shows what a vault lacks before co-signers take its first policy in device mode: devices of
 * signers first, then the approvals of all devices.
 */
export function MissingFounders({
  founding: { version, missing, withoutDevice, lacksRequiredDevice, changeId },
  renew,
}: {
  readonly founding: Founding;
  /** Null for a member who may not propose it again. */
  readonly renew: ((version: number) => void) | null;
}) {
  const lacksDevices = withoutDevice.length > 0 || lacksRequiredDevice;
  return (
    <section aria-labelledby="founding">
      <h2 id="founding">The vault is not founded</h2>
      {lacksDevices ? (
        <>
          <p>
            It has no address before each signer has a device in the policy, and each device has approved the policy.
            Add yours with “Add passkey” below, or with the device command. It needs no approval now: all of you read
            the whole policy when you approve it.
          </p>
          <ul class="plain">
            {withoutDevice.map((userId) => (
              <li key={userId}>
                <MemberLabel userId={userId} />: no device yet
              </li>
            ))}
            {lacksRequiredDevice && <li>The policy requires an Ed25519 device, and has none yet.</li>}
          </ul>
        </>
      ) : (
        <>
          <p>
            It has no address before each of these devices has approved policy version {version}. Their owners find it
            below, under “Policy changes”, or approve it with the device command.
          </p>
          <ul class="plain">
            {missing.map(({ userId, keyId }) => (
              <li key={keyId}>
                <MemberLabel userId={userId} />: device <code class="detail">{keyId}</code>
              </li>
            ))}
          </ul>
          {changeId === null && renew !== null && (
            <button type="button" onClick={() => renew(version)}>
              Propose it again
            </button>
          )}
        </>
      )}
    </section>
  );
}
