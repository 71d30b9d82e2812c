import { testBitcoinVectors } from './bitcoin-vectors.ts';
import { testCurveVectors } from './curve-vectors.ts';
import { testFrostVectors } from './frost-vectors.ts';
import { testHpkeVectors } from './hpke-vectors.ts';
import { testSignatureVectors } from './signature-vectors.ts';

/** Runs the independent test vectors in Node. README.md names their sources. */

testSignatureVectors();
testCurveVectors();
testFrostVectors();
testBitcoinVectors();
testHpkeVectors();
