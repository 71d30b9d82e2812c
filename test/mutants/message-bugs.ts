import { domain, type Bug } from './bug.ts';

/** Text that is hashed and messages that are signed. */
export const MESSAGE_BUGS: readonly Bug[] = [
  {
    name: 'text with a lone surrogate is hashed as another text',
    file: 'src/domain/canonical.ts',
    was: "if (!value.isWellFormed()) throw new Error('canonical text is well-formed Unicode');",
    is: '',
    caughtBy: domain('read-canonical'),
  },
  {
    name: 'a co-signer reads text with a lone surrogate',
    file: 'src/cosigner/wire.ts',
    was: "if (!value.isWellFormed()) throw new Malformed('not well-formed Unicode');",
    is: '',
    caughtBy: ['test/cosigner/wire.test.ts'],
  },
  {
    name: 'a body with ill-formed text reaches its route',
    file: 'src/http/request-check.ts',
    was: 'if (faults.length > 0) return invalidRequest(context, faults);',
    is: '',
    caughtBy: ['test/worker/http/ill-formed-text.test.ts'],
  },
  {
    name: 'the names of fields in a body are not looked at',
    file: 'src/http/well-formed-body.ts',
    was: "if (!name.isWellFormed()) faults.push(faultAt(child, 'has a name that is not well-formed Unicode'));",
    is: '',
    caughtBy: ['test/http/well-formed-body.test.ts'],
  },
  {
    name: 'the text of an RPC node is cut through a character',
    file: 'src/chains/readable.ts',
    was: 'clean.slice(0, LONGEST).toWellFormed()',
    is: 'clean.slice(0, LONGEST)',
    caughtBy: ['test/chains/readable.test.ts'],
  },
];
