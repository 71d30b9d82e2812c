import { domain, type Bug } from '../bug.ts';

/** Bugs in the hashing of text and in signed messages. */
export const MESSAGE_BUGS: readonly Bug[] = [
  {
    name: 'text with a lone surrogate is hashed as another text',
    file: 'src/domain/canonical/bytes.ts',
    was: "if (!value.isWellFormed()) throw new Error('canonical text is well-formed Unicode');",
    is: '',
    caughtBy: domain('canonical/read-text'),
  },
  {
    name: 'a co-signer reads text with a lone surrogate',
    file: 'src/cosigner/request-parser.ts',
    was: "if (!value.isWellFormed()) throw new Malformed('not well-formed Unicode');",
    is: '',
    caughtBy: ['test/cosigner/request-parser.test.ts'],
  },
  {
    name: 'a body with ill-formed text reaches its route',
    file: 'src/http/edge/request-check.ts',
    was: 'if (faults.length > 0) return invalidRequest(context, faults);',
    is: '',
    caughtBy: ['test/http/edge/ill-formed-text.worker.test.ts'],
  },
  {
    name: 'the names of fields in a body are not looked at',
    file: 'src/http/edge/well-formed-body.ts',
    was: "if (!name.isWellFormed()) faults.push(faultAt(child, 'The field name must be well-formed Unicode.'));",
    is: '',
    caughtBy: ['test/http/edge/well-formed-body.test.ts'],
  },
  {
    name: 'the text of an RPC node is cut through a character',
    file: 'src/chains/rpc/redact.ts',
    was: 'clean.slice(0, MAX_LENGTH).toWellFormed()',
    is: 'clean.slice(0, MAX_LENGTH)',
    caughtBy: ['test/chains/rpc/redact.test.ts'],
  },
  {
    name: 'a signature of BIP-322 has no variant',
    file: 'src/chains/bitcoin/rules/message.ts',
    was: "return accepted(`${SIMPLE_VARIANT}${stack.toString('base64')}`);",
    is: "return accepted(stack.toString('base64'));",
    caughtBy: ['test/chains/bitcoin/segwit.test.ts'],
  },
];
