import worker from './moved-cosigner.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { migrateNext, speakNext } from './next-release.ts';

/** A co-signer of the next release. */

export { CosignerObject } from './moved-cosigner.ts';

migrateNext(COSIGNER_SCHEMA, 'signed');
speakNext();

export default worker;
