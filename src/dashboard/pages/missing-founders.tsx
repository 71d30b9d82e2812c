import type { InferResponseType } from 'hono/client';
import type { api } from '#dashboard/api.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

type PolicyInForce = InferResponseType<(typeof api.vault)[':vaultId']['policy']['$get']>;
type Founding = NonNullable<PolicyInForce['founding']>;

/** Lists the devices that have not signed the first policy in device mode, with their owners. */
export function MissingFounders({
  founding: { version, missing, changeId },
  renew,
}: {
  readonly founding: Founding;
  /** Null for a member who may not propose it again. */
  readonly renew: ((version: number) => void) | null;
}) {
  return (
    <section aria-labelledby="founding">
      <h2 id="founding">The vault is not founded</h2>
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
    </section>
  );
}
