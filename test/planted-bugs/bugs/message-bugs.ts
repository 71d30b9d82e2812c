import { domain, evm, type Bug } from '../bug.ts';

/** Bugs in the hashing of text and in signed messages. */
export const MESSAGE_BUGS: readonly Bug[] = [
  {
    name: 'text with a lone surrogate is hashed as another text',
    file: 'src/domain/canonical/bytes.ts',
    was: "if (!value.isWellFormed()) throw new Error('canonical text is not well-formed Unicode');",
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
    was: 'if (faults.length > 0) return refused(invalidRequest(context, faults));',
    is: '',
    caughtBy: ['test/http/edge/ill-formed-text.worker.test.ts'],
  },
  {
    name: 'the names of fields in a body are not looked at',
    file: 'src/http/edge/body/well-formed-body.ts',
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
  {
    name: 'a co-signer does not compare the acknowledged chain id with that of the typed data',
    file: 'src/chains/evm/rules/message.ts',
    was: 'if (read.value.foreignChainId !== foreignChainId) return null;',
    is: '',
    caughtBy: evm('rules/message'),
  },
  {
    name: 'typed data for another chain counts under the rules of the chain of the vault',
    file: 'src/chains/inspect/exposure.ts',
    was: 'chain: signedFor ?? context.chain',
    is: 'chain: context.chain',
    caughtBy: ['test/attacks/coordinator/payload/message-for-other-chain.test.ts'],
  },
  {
    name: 'a payment by signature of another wallet counts as one of this wallet',
    file: 'src/chains/inspect/exposure.ts',
    was: "standard === 'EIP-3009' && owner !== wallet",
    is: "standard === 'EIP-3009' && owner === ''",
    caughtBy: ['test/chains/inspect/exposure.test.ts'],
  },
  {
    name: 'a payment by signature that names no chain counts under the limits of the chain of the vault alone',
    file: 'src/chains/inspect/exposure.ts',
    was: 'chainId === null ? { isUnreadable: true }',
    is: 'chainId === null ? {}',
    caughtBy: ['test/chains/inspect/exposure.test.ts'],
  },
  {
    name: 'bytes that are signed count as a text that people can read',
    file: 'src/chains/inspect/exposure.ts',
    was: "return format === 'eip191-hex' ? unreadable() : NOTHING;",
    is: 'return NOTHING;',
    caughtBy: ['test/chains/inspect/exposure.test.ts'],
  },
  {
    name: 'typed data with a name that libraries read in two ways is accepted',
    file: 'src/chains/evm/rules/typed-data.ts',
    was: 'if (named !== null) return refused(named);',
    is: '',
    caughtBy: evm('rules/typed-data-hash'),
  },
];
