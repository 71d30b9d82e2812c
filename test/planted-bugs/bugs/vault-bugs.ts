import type { Bug } from '../bug.ts';

const FURTHER_KEY = 'test/attacks/coordinator/policy/further-key.test.ts';
const COMMITMENT = 'test/cosigner/session/commitment.test.ts';

/**
 * Bugs by which a co-signer accepts a request because another key of the vault has other policies,
 * or because another session was first.
 */
export const VAULT_BUGS: readonly Bug[] = [
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
];
