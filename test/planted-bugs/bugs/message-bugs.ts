import { domain, type Bug } from '../bug.ts';

const VERDICTS = ['test/chains/verify-message.test.ts'];

/** Text that is hashed and messages that are signed. */
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
  {
    name: 'anyone can make a second valid signature of Ethereum out of a first one',
    file: 'src/chains/evm/client/verify-message.ts',
    was: "if (parsed.hasHighS()) return accepted(notCanonical('s is in the upper half (EIP-2): the signature is malleable.'));",
    is: '',
    caughtBy: VERDICTS,
  },
  {
    name: 'a signature of Ethereum is valid for every address',
    file: 'src/chains/evm/client/verify-message.ts',
    was: 'return accepted(signer === address ? VALID : OTHER_SIGNER);',
    is: 'return accepted(signer === null ? OTHER_SIGNER : VALID);',
    caughtBy: VERDICTS,
  },
  {
    name: 'a signature for a contract wallet is said to be wrong',
    file: 'src/chains/evm/client/verify-message.ts',
    was: 'if (bytes.length > SIGNATURE_BYTES) return accepted(CONTRACT_WALLET);',
    is: 'if (bytes.length > SIGNATURE_BYTES) return accepted(OTHER_SIGNER);',
    caughtBy: VERDICTS,
  },
  {
    name: 'anyone can make a second valid signature of P2WPKH out of a first one',
    file: 'src/chains/bitcoin/rules/verify-message.ts',
    was: 'if (signature.hasHighS()) return',
    is: 'if (signature === undefined) return',
    caughtBy: VERDICTS,
  },
  {
    name: 'a signature of P2WPKH is valid under another key',
    file: 'src/chains/bitcoin/rules/verify-message.ts',
    was: 'if (publicKey.length !== 33 || !equalBytes(keyHashOf(publicKey), keyHash)) return OTHER_SIGNER;',
    is: 'if (publicKey.length !== 33 || keyHash.length === 0) return OTHER_SIGNER;',
    caughtBy: VERDICTS,
  },
  {
    name: 'any hash type of P2WPKH is taken',
    file: 'src/chains/bitcoin/rules/verify-message.ts',
    was: "if (typed.at(-1) !== SigHash.ALL) return notCanonical('The hash type is not ALL.');",
    is: '',
    caughtBy: VERDICTS,
  },
  {
    name: 'the script of a P2TR address is not looked at',
    file: 'src/chains/bitcoin/rules/verify-message.ts',
    was: 'if (stack.length > 1) return OTHER_SCRIPT;',
    is: '',
    caughtBy: VERDICTS,
  },
  {
    name: 'a witness stack is read as far as it goes',
    file: 'src/chains/bitcoin/rules/verify-message.ts',
    was: 'return reader.offset === bytes.length ? stack : null;',
    is: 'return stack;',
    caughtBy: VERDICTS,
  },
  {
    name: 'a weak nonce of Ed25519 is taken',
    file: 'src/chains/solana/rules/verify-message.ts',
    was: 'hasWeakNonce(given) ? WEAK_NONCE : isBy(',
    is: 'hasWeakNonce(given) ? OTHER_SIGNER : isBy(',
    caughtBy: VERDICTS,
  },
];
