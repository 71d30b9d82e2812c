import type { Bug } from '../bug.ts';

const call = ['test/approval-page/verified-request.test.ts'];
const replaced = ['test/approval-page/unanswered.test.ts'];
const describe = ['test/review/describe.test.ts'];
const redirect = ['test/approval-page/redirect.test.ts'];
const returned = ['test/dashboard/approval/approval-redirect.test.ts'];

/**
 * Bugs by which the approval page accepts false data from a coordinator, or shows other facts than
 * those in the bytes that it signs.
 */
export const PAGE_BUGS: readonly Bug[] = [
  {
    name: 'the amount of a call to a token has the decimals of the native asset',
    file: 'src/review/describe-intent.ts',
    was: 'allowanceText(amount, asset, rules)}`;\n      return',
    is: 'nativeText(amount, chain)}`;\n      return',
    caughtBy: describe,
  },
  {
    name: 'a second load of another request looks like the first load of it',
    file: 'src/approval-page/arrival/unanswered.ts',
    was: 'if (before === null) storage.setItem',
    is: 'if (before !== own) storage.setItem',
    caughtBy: replaced,
  },
  {
    name: 'a new load of the approval page forgets the request without an answer',
    file: 'src/approval-page/arrival/unanswered.ts',
    was: 'before !== null && before !== own',
    is: 'before !== null && before === null',
    caughtBy: replaced,
  },
  {
    name: 'a request that has expired can be approved',
    file: 'src/review/verified-request.ts',
    was: 'if (expiresAtMs <= nowMs)',
    is: 'if (expiresAtMs < nowMs)',
    caughtBy: call,
  },
  {
    name: 'a passkey of the dashboard passes for one of the approval page',
    file: 'src/devices/approval-origin.ts',
    was: "&& !origins.includes(device.origin ?? '')",
    is: '&& device.origin == null',
    caughtBy: ['test/devices/approval-origin.test.ts'],
  },
  {
    name: 'no key of the vault at all confirms a policy',
    file: 'src/approval-page/cosigners/statement-check.ts',
    was: 'const isEnough = agreements.length > 0 && agreements',
    is: 'const isEnough = agreements',
    caughtBy: call,
  },
  {
    name: 'the page shows what to approve in spite of the statements',
    file: 'src/approval-page/cosigners/statement-check.ts',
    was: 'fault: isEnough ? null',
    is: 'fault: entries.length >= 0 ? null',
    caughtBy: call,
  },
  {
    name: 'an intent under any policy is shown with the names of the one in force',
    file: 'src/review/verified-request.ts',
    was: 'intent.policyVersion === version && intent.policyHash === inForceHash) return;',
    is: 'intent.policyVersion === version || intent.policyHash === inForceHash) return;',
    caughtBy: call,
  },
  {
    name: 'an intent that names an older policy is signed',
    file: 'src/review/verified-request.ts',
    was: "if (isOlder && outdated === 'described') return;",
    is: 'if (isOlder) return;',
    caughtBy: call,
  },
  {
    name: 'a policy change is approved to another policy than the one that is shown',
    file: 'src/review/verified-request.ts',
    was: 'if (hashOfHex(proposed) !== mandate.policyHash) {',
    is: "if (hashOfHex(proposed) === '') {",
    caughtBy: call,
  },
  {
    name: 'the statements about another key of the vault confirm the policy for a wallet',
    file: 'src/review/statement-keys.ts',
    was: "if (address !== wallet.address) return 'other-wallet';",
    is: "if (address === '') return 'other-wallet';",
    caughtBy: ['test/attacks/coordinator/other-wallet-key.test.ts'],
  },
  {
    name: 'a key id that belongs to another public key passes',
    file: 'src/review/statement-keys.ts',
    was: "if (keyIdOf(scheme, publicKey) !== keyId) return 'other-key-id';",
    is: "if (keyId === '') return 'other-key-id';",
    caughtBy: ['test/attacks/coordinator/other-wallet-key.test.ts'],
  },
  {
    name: 'a payment is confirmed by the statements about no key, or about two',
    file: 'src/review/statement-keys.ts',
    was: 'if (wallet !== null && keys.length !== 1)',
    is: 'if (wallet !== null && keys.length > 9)',
    caughtBy: ['test/review/statement-keys.test.ts', 'test/approval-page/verified-request.test.ts'],
  },
  {
    name: 'the approval page believes the keys that the dashboard names',
    file: 'src/review/verified-request.ts',
    was: '  holdKeys(request, subject);\n',
    is: '',
    caughtBy: ['test/attacks/coordinator/other-wallet-key.test.ts'],
  },
  {
    name: 'letters that turn text around reach the screen',
    file: 'src/domain/visible-text.ts',
    was: 'linesStay && letter ===',
    is: "letter !== '' || letter ===",
    caughtBy: describe,
  },
  {
    name: 'a passkey that gets another domain is shown as unchanged',
    file: 'src/review/describe-change.ts',
    was: '(domain ${device.rpId}, credential ${device.credentialId})',
    is: '',
    caughtBy: ['test/review/policy-differences.test.ts'],
  },
  {
    name: 'the removal of a limit gives no warning',
    file: 'src/review/weakenings.ts',
    was: 'now !== null && (then === null || ',
    is: 'now !== null && then !== null && (',
    caughtBy: ['test/review/policy-differences.test.ts'],
  },
  {
    name: 'text with control characters can be signed',
    file: 'src/domain/canonical/field-reader.ts',
    was: 'return isDeceptive(text) ? null : text;',
    is: 'return text;',
    caughtBy: ['test/attacks/coordinator/text-in-terminal.test.ts'],
  },
  {
    name: 'by redirect the page answers any origin',
    file: 'src/approval-page/arrival/redirect.ts',
    was: 'if (!tab.allowed.includes(dashboard)) {',
    is: "if (dashboard === '') {",
    caughtBy: redirect,
  },
  {
    name: 'by redirect the page takes a request that it did not call for',
    file: 'src/approval-page/arrival/redirect.ts',
    was: 'dashboard === request.dashboard && requestId === request.requestId',
    is: 'dashboard === request.dashboard',
    caughtBy: redirect,
  },
  {
    name: 'by redirect one nonce of the page serves two requests',
    file: 'src/approval-page/arrival/redirect.ts',
    was: '  storage.removeItem(KEY);\n',
    is: '',
    caughtBy: redirect,
  },
  {
    name: 'the dashboard sends an answer without a request',
    file: 'src/dashboard/forms/signing-task.ts',
    was: 'if (waiting?.requestId !== returned.requestId) {',
    is: 'if (waiting === null) {',
    caughtBy: returned,
  },
  {
    name: 'the dashboard sends the answer of a redirect again after a reload',
    file: 'src/dashboard/forms/signing-task.ts',
    was: '  storage.removeItem(KEY);\n',
    is: '',
    caughtBy: returned,
  },
  {
    name: 'the dashboard loses the reason of a rejection over a redirect',
    file: 'src/dashboard/forms/signing-task.ts',
    was: 'return { kind, vaultId: id, changeId, ...(reason === undefined ? {} : { reason }) };',
    is: 'return { kind, vaultId: id, changeId };',
    caughtBy: returned,
  },
  {
    name: 'page: a co-signer that does not agree is not named',
    file: 'src/approval-page/cosigners/statement-check.ts',
    was: "exceptions: verdicts.filter(({ says }) => says !== 'agrees'),",
    is: "exceptions: verdicts.filter(({ says }) => says === 'behind'),",
    caughtBy: ['test/approval-page/verified-request.test.ts'],
  },
  {
    name: 'page: keys of co-signers are learned from a policy that is no longer in force',
    file: 'src/approval-page/cosigners/statement-check.ts',
    was: 'isInForce: isEnough && keyIds.every(isStated),',
    is: 'isInForce: isEnough,',
    caughtBy: ['test/approval-page/verified-request.test.ts'],
  },
  {
    name: 'page: another policy change is shown than the one that is rejected',
    file: 'src/review/verified-request.ts',
    was: 'if (hashOfHex(bytes) !== mandateDigest || change.mandate.id !== changeId) {',
    is: 'if (change.mandate.id !== changeId) {',
    caughtBy: ['test/approval-page/rejection.test.ts'],
  },
  {
    name: 'page: a rejection of another vault is shown with the policy of this one',
    file: 'src/review/verified-request.ts',
    was: 'if (subject.rejection.vaultId !== inForce.vaultId) throw',
    is: 'if (inForce.vaultId < 0) throw',
    caughtBy: ['test/approval-page/rejection.test.ts'],
  },
  {
    name: 'page: the change of a rejection follows any policy',
    file: 'src/review/verified-request.ts',
    was: 'if (change !== null) holdSuccessor(',
    is: 'if (change !== null && inForce.version < 0) holdSuccessor(',
    caughtBy: ['test/approval-page/rejection.test.ts'],
  },
  {
    name: 'page: an approval carries the mandate of a rejection',
    file: 'src/review/verified-request.ts',
    was: 'if (rejected !== null && domain !== REJECTION_DOMAIN && domain !== TRANSACTION_REJECTION_DOMAIN) {',
    is: "if (rejected !== null && domain === '') {",
    caughtBy: ['test/approval-page/rejection.test.ts'],
  },
];
