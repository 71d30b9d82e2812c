import type { Bug } from './bug.ts';

const question = ['test/approval-page/question.test.ts'];
const describe = ['test/approval-page/describe.test.ts'];

/** What the approval page believes of a coordinator, and what it shows of the bytes that it signs. */
export const PAGE_BUGS: readonly Bug[] = [
  {
    name: 'a field that the page does not show is signed along',
    file: 'src/approval-page/canonical-cursor.ts',
    was: 'if (this.#next < this.#text.fields.length) {',
    is: 'if (this.#next > this.#text.fields.length) {',
    caughtBy: question,
  },
  {
    name: 'a co-signer that has another policy in force is passed over',
    file: 'src/approval-page/question.ts',
    was: "if (verdicts.some(({ says }) => says === 'disagrees')) {",
    is: "if (verdicts.every(({ says }) => says === 'disagrees')) {",
    caughtBy: question,
  },
  {
    name: 'one co-signer is enough to confirm a policy',
    file: 'src/approval-page/question.ts',
    was: 'if (agreeing < pins.threshold) {',
    is: 'if (agreeing < 1) {',
    caughtBy: question,
  },
  {
    name: 'an intent under any policy is shown with the names of the one in force',
    file: 'src/approval-page/question.ts',
    was: 'intent.policyVersion === version && intent.policyHash === inForceHash;',
    is: 'intent.policyVersion === version || intent.policyHash === inForceHash;',
    caughtBy: question,
  },
  {
    name: 'a statement of a key that nobody confirmed counts',
    file: 'src/approval-page/statement-check.ts',
    was: 'if (!isSignedBy(pin, statement)) return unknown(',
    is: "if (pin.signing === '') return unknown(",
    caughtBy: question,
  },
  {
    name: 'an old statement counts',
    file: 'src/approval-page/statement-check.ts',
    was: 'if (fault !== null) return unknown(FAULTS[fault]);',
    is: "if (fault !== null && fault !== 'too-old') return unknown(FAULTS[fault]);",
    caughtBy: question,
  },
  {
    name: 'a policy change is approved to another policy than the one that is shown',
    file: 'src/approval-page/question.ts',
    was: 'if (hashOfHex(proposed) !== mandate.policyHash) {',
    is: "if (hashOfHex(proposed) === '') {",
    caughtBy: question,
  },
  {
    name: 'letters that turn text around reach the screen',
    file: 'src/approval-page/fact.ts',
    was: 'linesStay && letter ===',
    is: "letter !== '' || letter ===",
    caughtBy: describe,
  },
];
