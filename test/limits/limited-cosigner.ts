import worker, * as classes from '../../src/cosigner-worker.ts';
import { limitedHandlers, limitedObject, limitFetch } from './limited-worker.ts';

/** A co-signer with the limits of the platform. */

limitFetch();

export const CosignerObject = limitedObject('co-signer object', classes.CosignerObject);

export default limitedHandlers(worker);
