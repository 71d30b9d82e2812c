import type { Bug } from '../bug.ts';

const FURTHER_KEY = 'test/attacks/coordinator/policy/further-key.test.ts';
const COMMITMENT = 'test/cosigner/session/commitment.test.ts';

const PENDING = ['test/http/user/pending.worker.test.ts'];
const GIVE_UP_COMMAND = ['test/objects/vault/commands/key-refresh.test.ts'];
const GIVE_UP_ENDPOINT = ['test/http/internal/key-refresh.worker.test.ts'];
const NEXT_EPOCH = ['test/jobs/keys/next-epoch.test.ts'];
const GIVE_UP_STEPS = ['test/jobs/keys/give-up-refresh.test.ts'];

/**
 * Bugs by which a refresh that is given up divides the co-signers or goes on, and by which no epoch
 * is left for the next dealing.
 */
const REFRESH_BUGS: readonly Bug[] = [
  {
    name: 'a refresh is given up after co-signers were instructed to use its shares',
    file: 'src/objects/vault/commands/key-refresh.ts',
    was: "  if (known.activating !== undefined) return refused('key-refresh-activating');\n",
    is: '',
    caughtBy: GIVE_UP_COMMAND,
  },
  {
    name: 'a late report of a refresh that was given up changes the next one',
    file: 'src/objects/vault/commands/key-refresh.ts',
    was: ' || known.requestId !== requestId) return;',
    is: ') return;',
    caughtBy: GIVE_UP_COMMAND,
  },
  {
    name: 'a report of an older run moves the record of an activation back',
    file: 'src/objects/vault/commands/key-refresh.ts',
    was: 'Math.max(known.activating ?? 0, reported.activating ?? 0)',
    is: 'reported.activating ?? 0',
    caughtBy: GIVE_UP_COMMAND,
  },
  {
    name: 'co-signers are instructed to use new shares before the record says so',
    file: 'src/jobs/keys/refresh-key.ts',
    was: '(refresh.activating ?? 0) < epoch',
    is: 'refresh.activating === 0',
    caughtBy: GIVE_UP_STEPS,
  },
  {
    name: 'a refresh uses shares that wait since an earlier one was given up',
    file: 'src/jobs/keys/refresh-key.ts',
    was: 'epoch: newest?.epoch ?? inUse.epoch, setups',
    is: 'epoch: inUse.epoch, setups',
    caughtBy: GIVE_UP_STEPS,
  },
  {
    name: 'a false report of one co-signer keeps a refresh from being given up',
    file: 'src/http/internal/key.ts',
    was: 'return isSame && receipt !== undefined && receipt === used.receipts[cosigner];',
    is: 'return isSame && receipt !== undefined;',
    caughtBy: GIVE_UP_ENDPOINT,
  },
  {
    name: 'a refresh is given up while a co-signer uses shares that another one only holds',
    file: 'src/http/internal/key.ts',
    was: '  if (refreshing && isActivationBegun(reports)) return mustBeCompleted(context);\n',
    is: '',
    caughtBy: GIVE_UP_ENDPOINT,
  },
  {
    name: 'an epoch that one co-signer names leads beyond what another one accepts',
    file: 'src/jobs/keys/refresh-key.ts',
    was: 'named.filter((epoch) => epoch < limit)',
    is: 'named.filter((epoch) => epoch < agreed + MAX_EPOCH_STEP)',
    caughtBy: NEXT_EPOCH,
  },
  {
    name: 'a co-signer that confirmed shares and lost them is behind for ever',
    file: 'src/cosigner/key/dealing.ts',
    was: '      request.origin?.confirming();\n',
    is: '',
    caughtBy: NEXT_EPOCH,
  },
  {
    name: 'a co-signer that joins refuses an epoch that is far above none',
    file: 'src/cosigner/key/resharing.ts',
    was: 'if (active >= baseEpoch && epoch > known',
    is: 'if (epoch > known',
    caughtBy: NEXT_EPOCH,
  },
];

/**
 * Bugs by which a co-signer accepts a request because another key of the vault has other policies,
 * or because another session was first.
 */
const IN_SCHEMA = ['test/store/object-schema.test.ts'];
const SCHEMA_FILE = 'src/store/object-schema.ts';

export const VAULT_BUGS: readonly Bug[] = [
  {
    name: 'state: the first missing migration is skipped',
    file: SCHEMA_FILE,
    was: 'migrations.slice(from)',
    is: 'migrations.slice(from + 1)',
    caughtBy: IN_SCHEMA,
  },
  {
    name: 'state: a migration runs again at the next start',
    file: SCHEMA_FILE,
    was: '  sql.exec(`UPDATE ${TABLE} SET version = ?`, migrations.length);\n',
    is: '',
    caughtBy: IN_SCHEMA,
  },
  {
    name: 'state: half of an upgrade stays',
    file: SCHEMA_FILE,
    was: 'storage.transactionSync(() => migrate(sql, schema, version));',
    is: 'migrate(sql, schema, version);',
    caughtBy: IN_SCHEMA,
  },
  {
    name: 'state: the state of a newer release is opened',
    file: SCHEMA_FILE,
    was: '  if (version > newest) throw new UnreadableState(newerText(schema, version));\n',
    is: '  newerText(schema, version);\n',
    caughtBy: IN_SCHEMA,
  },
  {
    name: 'state: documents get another version without a migration',
    file: 'src/store/document.ts',
    was: 'schema: z.ZodType<T>, version = 1): Codec<T>',
    is: 'schema: z.ZodType<T>, version = 2): Codec<T>',
    caughtBy: ['test/e2e/operations/golden-state.test.ts'],
  },
  {
    name: 'state: the name of an object changes',
    file: 'src/objects/vault/doors/stub.ts',
    was: 'env.VAULT.getByName(`vault:${id}`)',
    is: 'env.VAULT.getByName(`vault-${id}`)',
    caughtBy: ['test/e2e/operations/golden-state.test.ts'],
  },
  {
    name: 'a co-signer serves requests of a version that it does not speak',
    file: 'src/cosigner/api/app.ts',
    was: 'WIRE_VERSIONS.find((one) => version === `v${one}`)',
    is: 'WIRE_VERSIONS.find((one) => one > 0)',
    caughtBy: ['test/cosigner-client/wire-version.test.ts'],
  },
  {
    name: 'the coordinator speaks the newest version alone',
    file: 'src/cosigner-client/client.ts',
    was: 'versions.find((version) => spoken.includes(String(version)))',
    is: 'versions.find((version) => spoken.length > 9 && version > 0)',
    caughtBy: ['test/cosigner-client/wire-version.test.ts'],
  },
  {
    name: 'a second reading of the blocks replaces what a scan has found',
    file: 'src/store/scans.ts',
    was: "      WHERE id = ? AND state = 'open' AND hashes IS NULL`,",
    is: "      WHERE id = ? AND state = 'open'`,",
    caughtBy: ['test/jobs/run-scan.worker.test.ts'],
  },
  ...REFRESH_BUGS,
  {
    name: 'a key generation opens under any policy that the coordinator names',
    file: 'src/cosigner/policy/policy-statement.ts',
    was: "  if (version > named.version) return refused(refusal('policy-ahead', String(version)));",
    is: '',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a new key is stored although its vault has another policy',
    file: 'src/cosigner/policy/vault-policies.ts',
    was: 'if (this.version() !== head.version || this.hashAt(head.version) !== head.hash) {',
    is: 'if (this.version() !== head.version) {',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a key does not pin the policies of its vault',
    file: 'src/cosigner/policy/vault-policies.ts',
    was: "    this.#sql.exec('INSERT OR IGNORE INTO vault_pin (only_row) VALUES (0)');\n",
    is: '',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a session goes on without its row',
    file: 'src/cosigner/key/key.ts',
    was: 'return written.ok ? null : written.refusal;',
    is: 'return null;',
    caughtBy: [COMMITMENT],
  },
  {
    name: 'a session starts under a policy that is no longer in force',
    file: 'src/cosigner/key/key.ts',
    was: "return fault ?? ((await this.#isInForce(policy)) ? null : refusal('session-over', 'policy'));",
    is: 'return fault;',
    caughtBy: [COMMITMENT],
  },
  {
    name: 'a co-signer reads a list of policies beyond the first fault',
    file: 'src/cosigner/policy/policy-chain.ts',
    was: 'for (const { policy, mandate } of sent) {',
    is: 'for (const { policy, mandate } of [...sent]) {',
    caughtBy: ['test/attacks/coordinator/endless-rows.test.ts'],
  },
  {
    name: 'a late projection of no pending change hides a newer one',
    file: 'src/store/vaults.ts',
    was: 'pendingChanges > 0 ? undefined : or(isNull(vaults.pendingChangesSeq), lte(vaults.pendingChangesSeq, seq)),',
    is: 'pendingChanges > 0 ? undefined : or(isNull(vaults.pendingChangesSeq), lte(vaults.pendingChangesSeq, seq + 9)),',
    caughtBy: ['test/store/pending-changes.worker.test.ts'],
  },
  {
    name: 'vaults that a list of pending decisions does not open are not named',
    file: 'src/http/user/pending.ts',
    was: 'const incompleteVaults: VaultId[] = vaultIds.slice(MAX_VAULTS);',
    is: 'const incompleteVaults: VaultId[] = vaultIds.slice(vaultIds.length);',
    caughtBy: PENDING,
  },
  {
    name: 'an expired decision is offered until the alarm ends it',
    file: 'src/objects/vault/commands/pending.ts',
    was: '.filter(({ deadlineMs }) => nowMs < deadlineMs)',
    is: '.filter(({ deadlineMs }) => nowMs - 7 * 86_400_000 < deadlineMs)',
    caughtBy: PENDING,
  },
];
