import worker from './moved-coordinator.ts';
import { PERSON_SCHEMA } from '#objects/person/storage.ts';
import { TOKEN_SCHEMA } from '#objects/token/access-token.ts';
import { SESSION_SCHEMA } from '#objects/token/session.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import { WALLET_NONCE_SCHEMA } from '#objects/wallet-nonce/object.ts';
import { migrateNext, speakNext } from './next-release.ts';

/** The coordinator of the next release. */

export { AccessTokenObject, PersonObject, SessionObject, VaultObject, WalletNonceObject } from './moved-coordinator.ts';

migrateNext(VAULT_SCHEMA, 'tx');
migrateNext(PERSON_SCHEMA, 'person');
migrateNext(TOKEN_SCHEMA, 'token');
migrateNext(SESSION_SCHEMA, 'session');
migrateNext(WALLET_NONCE_SCHEMA, 'owned');
speakNext();

export default worker;
