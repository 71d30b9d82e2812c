import worker, * as classes from '../../src/worker.ts';
import { limitedHandlers, limitedObject, limitFetch } from './limited-worker.ts';

/** The coordinator with the limits of the platform. */

limitFetch();

export const AccessTokenObject = limitedObject('token', classes.AccessTokenObject);
export const PersonObject = limitedObject('person', classes.PersonObject);
export const SessionObject = limitedObject('session', classes.SessionObject);
export const VaultObject = limitedObject('vault', classes.VaultObject);
export const WalletNonceObject = limitedObject('wallet nonce', classes.WalletNonceObject);

export default limitedHandlers(worker);
