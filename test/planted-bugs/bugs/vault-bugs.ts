import type { Bug } from '../bug.ts';

const FURTHER_KEY = 'test/attacks/coordinator/policy/further-key.test.ts';
const JOINING = 'test/attacks/coordinator/policy/joining-older-policy.test.ts';
const REGISTRATION = 'test/cosigner/key/key-registration.test.ts';
const COMMITMENT = 'test/cosigner/session/commitment.test.ts';

/**
 * Bugs by which a co-signer accepts a request because another key of the vault has other policies,
 * or because another session was first.
 */
export const VAULT_BUGS: readonly Bug[] = [
  {
    name: 'a key generation opens whatever the vault has adopted',
    file: 'src/cosigner/object.ts',
    was: 'const fault = newKeyFault(held, policies.map(policyHashOf));',
    is: 'const fault = newKeyFault(held.slice(held.length), policies.map(policyHashOf));',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a new key is stored before its vault takes its policies',
    file: 'src/cosigner/object.ts',
    was: 'const keyRefusal = await this.#registration.extendByNewKey(policies);',
    is: 'const keyRefusal = [await this.#registration.extendByNewKey(policies)].find(() => false) ?? null;',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a new key does not extend the policies of its vault',
    file: 'src/cosigner/key/vault-policies.ts',
    was: 'return newKeyFault(this.list(), chain) ?? this.extend(chain);',
    is: 'return newKeyFault(this.list(), chain);',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'an adoption does not extend the policies of the vault',
    file: 'src/cosigner/key/key.ts',
    was: 'const fault = await registration.extend(adopted);',
    is: 'const fault = await registration.extend(policies);',
    caughtBy: [REGISTRATION],
  },
  {
    name: 'a fork of the policies of a vault is none',
    file: 'src/cosigner/key/vault-policies.ts',
    was: '.some((hash, i) => hash !== chain[i]);',
    is: '.some((hash, i) => hash.length !== chain[i]?.length);',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a new key may lack the newest policies of its vault',
    file: 'src/cosigner/key/vault-policies.ts',
    was: 'return chain.length < held.length ?',
    is: 'return chain.length === 0 ?',
    caughtBy: [FURTHER_KEY],
  },
  {
    name: 'a co-signer joins a key whatever the vault has adopted',
    file: 'src/cosigner/key/resharing.ts',
    was: 'const fault = newKeyFault(await registration.vaultPolicies(head.vaultId), sent);',
    is: 'const fault = newKeyFault([], sent);',
    caughtBy: [JOINING],
  },
  {
    name: 'a co-signer that joins a key does not extend the policies of the vault',
    file: 'src/cosigner/key/resharing.ts',
    was: 'const keyRefusal = await registration.extendByNewKey(policies);',
    is: 'const keyRefusal = await registration.complete([]);',
    caughtBy: [JOINING],
  },
  {
    name: 'a key calls the object of its vault with every use',
    file: 'src/cosigner/key/key-registration.ts',
    was: 'if (this.#registered() >= policies.length) return null;',
    is: 'if (this.#registered() > policies.length) return null;',
    caughtBy: [REGISTRATION],
  },
  {
    name: 'a key signs under other policies than its vault has',
    file: 'src/cosigner/key/key.ts',
    was: 'if (unregistered !== null) return refused(unregistered);\n    const share = current.value;',
    is: 'const share = current.value;',
    caughtBy: [REGISTRATION],
  },
  {
    name: 'what was adopted under another key counts for no expired mandate',
    file: 'src/cosigner/key/key.ts',
    was: '(await registration.isAdopted(policy)) ||',
    is: '',
    caughtBy: [REGISTRATION],
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
    was: "if (!isInForce()) return refusal('session-over', 'policy');",
    is: '',
    caughtBy: [COMMITMENT],
  },
  {
    name: 'a co-signer reads a list of policies beyond the first fault',
    file: 'src/cosigner/key/resharing.ts',
    was: 'of parsePolicies(sent)) {',
    is: 'of [...parsePolicies(sent)]) {',
    caughtBy: ['test/cosigner/key/refresh-attacks.test.ts'],
  },
];
