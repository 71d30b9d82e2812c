import type { Bug } from './bug.ts';

const VERIFIED = ['test/devices/statement.test.ts'];
const CHAINED = ['test/devices/policy-chain.test.ts'];

/** What a verifier of statements and policies must not let pass. */
export const STATEMENT_BUGS: readonly Bug[] = [
  {
    name: 'a missing statement agrees',
    file: 'src/devices/statement.ts',
    was: "if (delivered === null) return unknown('missing');",
    is: "if (delivered === null) return { verdict: 'agrees', cosigner };",
    caughtBy: VERIFIED,
  },
  {
    name: 'the first of several statements of one co-signer counts',
    file: 'src/devices/statement.ts',
    was: "if (entries.length > 1) return unknown('repeated');",
    is: '',
    caughtBy: VERIFIED,
  },
  {
    name: 'the signature of a statement is not verified',
    file: 'src/devices/statement.ts',
    was: "if (!isSignedBy(pin, delivered)) return unknown('bad-signature');",
    is: '',
    caughtBy: VERIFIED,
  },
  {
    name: 'a statement for another question is believed',
    file: 'src/devices/statement.ts',
    was: 'if (fault !== null) return unknown(fault);',
    is: '',
    caughtBy: VERIFIED,
  },
  {
    name: 'a disagreement does not stop a signer',
    file: 'src/devices/statement.ts',
    was: "if (verdicts.some(({ verdict }) => verdict === 'disagrees')) return 'cosigner-disagrees';",
    is: '',
    caughtBy: VERIFIED,
  },
  {
    name: 'one agreement too few is enough',
    file: 'src/devices/statement.ts',
    was: "return agreeing < threshold ? 'too-few-agree' : null;",
    is: "return agreeing < threshold - 1 ? 'too-few-agree' : null;",
    caughtBy: VERIFIED,
  },
  {
    name: 'pins follow a policy that no quorum approved',
    file: 'src/devices/policy-chain.ts',
    was: "if ((await successionFault(current, policy, mandate)) !== null) return refused('unproven-pins');",
    is: '',
    caughtBy: CHAINED,
  },
  {
    name: 'pins follow the word of the coordinator out of token mode',
    file: 'src/devices/policy-chain.ts',
    was: "if (current === undefined || current.approvalMode === 'token') return refused('unproven-pins');",
    is: "if (current === undefined) return refused('unproven-pins');",
    caughtBy: CHAINED,
  },
  {
    name: 'a verified policy is forgotten',
    file: 'src/devices/policy-chain.ts',
    was: "if (links[start]?.hash !== known.hash) return refused('other-history');",
    is: '',
    caughtBy: CHAINED,
  },
  {
    name: 'a policy that is read is not the one that the hash names',
    file: 'src/devices/policy-document.ts',
    was: 'return areEqual(policyBytes(policy), bytes) ? policy : null;',
    is: 'return policy;',
    caughtBy: ['test/devices/policy-document.test.ts'],
  },
  {
    name: 'a co-signer takes the pins of an attacker',
    file: 'src/cosigner/policy-statement.ts',
    was: 'own[i]?.index === index && own[i].signing === signing',
    is: 'own[i]?.index === index && signing !== null',
    caughtBy: ['test/cosigner/pins-match.test.ts'],
  },
  {
    name: 'a device believes statements about any key',
    file: 'local/statement-check.ts',
    was: "if (!isOfWallet) throw new Unproven('the key that the service names is not the key of the wallet');",
    is: '',
    caughtBy: ['test/local/statement-check.test.ts'],
  },
  {
    name: 'a device takes any fingerprint',
    file: 'src/devices/pin-fingerprint.ts',
    was: 'return digits(entered) === digits(fingerprintOf(pins));',
    is: 'return digits(fingerprintOf(pins)).startsWith(digits(entered));',
    caughtBy: ['test/devices/pin-fingerprint.test.ts'],
  },
  {
    name: 'a co-signer that is behind is left behind when somebody looks',
    file: 'src/nodes/policy-statements.ts',
    was: 'if (!delivered.some(isBehind)) return delivered;',
    is: 'return delivered;',
    caughtBy: ['test/nodes/policy-statements.test.ts'],
  },
];
