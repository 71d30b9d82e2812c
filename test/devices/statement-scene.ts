import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { PolicyStatement, SignedStatement } from '#domain/policy/statement.ts';
import { statementBytes } from '#domain/policy/statement.ts';

/** The identity of a co-signer that lives in the test: it signs whatever the test gives it. */
export interface PaperCosigner {
  readonly pin: CosignerPin;
  readonly sign: (statement: PolicyStatement) => SignedStatement;
}

export function paperCosigner(index: number): PaperCosigner {
  const { secretKey, publicKey } = ed25519.keygen();
  return {
    pin: { index, signing: bytesToHex(publicKey) },
    sign: (statement) => ({
      ...statement,
      signature: bytesToHex(ed25519.sign(statementBytes(statement), secretKey)),
    }),
  };
}
