import './moved-clock.ts';
import worker from '../../src/cosigner-worker.ts';

/** A co-signer with a moved clock. */

export { CosignerObject } from '../../src/cosigner-worker.ts';
export default worker;
