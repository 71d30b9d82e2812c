import type { InferResponseType } from 'hono/client';
import { useEffect, useRef } from 'preact/hooks';
import type { Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { requestSignature, useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { PageButtons } from '#dashboard/approval/page-buttons.tsx';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';

type Line = (typeof api.vault)[':vaultId']['policy'];
type Answer = InferResponseType<Line['$get']>;
type Entry = NonNullable<Answer['statements']>[number];
type InForce = Pick<Answer['policy'], 'version' | 'hash'>;

const NONCE_BYTES = 32;

export interface StatementList {
  readonly loaded: Loaded<Answer>;
  readonly reload: () => void;
}

/**
 * Loads the statements of the co-signers: at first together with the policy, and again when another
 * policy is in force.
 *
 * @param hash of the policy in force; null before it is known
 */
export function useStatements(vaultId: number, hash: string | null): StatementList {
  const { loaded, reload } = useLoaded(`statements ${vaultId}`, async () => {
    const query = { nonce: newNonce() };
    return good(api.vault[':vaultId'].policy.$get({ param: { vaultId: String(vaultId) }, query }));
  });
  const shown = useRef(hash);
  useEffect(() => {
    if (shown.current !== null && shown.current !== hash) reload();
    shown.current = hash;
  }, [hash]);
  return { loaded, reload };
}

/**
 * Shows the policies that the co-signers have in force, as the server delivers them. This page
 * comes from the same server, so it verifies nothing. It shows whether a policy change has reached
 * all co-signers.
 */
export function Statements(props: {
  readonly vaultId: number;
  readonly statements: StatementList;
  readonly me: Person;
}) {
  const {
    vaultId,
    statements: { loaded, reload },
    me,
  } = props;
  return (
    <section aria-labelledby="statements">
      <h2 id="statements">Co-signers</h2>
      <p class="quiet">
        Reported by the server and not verified here. The device command and the approval page verify these statements.
      </p>
      <LoadedContent loaded={loaded} what="the statements of the co-signers" again={reload}>
        {({ policy: inForce, statements }) => (
          <ul class="plain">
            {(statements ?? []).map((entry) => (
              <li key={`${entry.keyId} ${entry.cosigner}`}>
                Co-signer {entry.cosigner}, key <Hash value={entry.keyId} />: <Stated entry={entry} policy={inForce} />
              </li>
            ))}
            {statements?.length === 0 && <li class="quiet">The vault has no key yet.</li>}
          </ul>
        )}
      </LoadedContent>
      <VerifiedReading vaultId={vaultId} me={me} />
    </section>
  );
}

/** Opens the approval page, which verifies the statements and shows the whole policy. */
function VerifiedReading({ vaultId, me }: { readonly vaultId: number; readonly me: Person }) {
  const origins = useApprovalOrigins();
  const read = (page: string, way: ApprovalChannel) => {
    // The page has no answer: the promise is rejected when the person closes it.
    requestSignature(page, { task: { kind: 'policy-view', vaultId: String(vaultId) }, me, way }).catch(() => {});
  };
  return (
    <p class="doors">
      {origins.map((page) => {
        const where = origins.length === 1 ? 'the approval page' : new URL(page).host;
        const label = `Read the policy on ${where}`;
        return <PageButtons key={page} page={page} label={label} labelOfTab={`${label} in this tab`} open={read} />;
      })}
    </p>
  );
}

function Stated({ entry: { statement }, policy }: { readonly entry: Entry; readonly policy: InForce }) {
  if (statement === null) return <span class="quiet">unknown</span>;
  const { policyVersion, policyHash } = statement;
  if (policyVersion === policy.version && policyHash === policy.hash) return <>version {policyVersion} is in force</>;
  return (
    <strong>
      disagrees: version {policyVersion} is in force, hash <code>{policyHash}</code>
    </strong>
  );
}

function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
