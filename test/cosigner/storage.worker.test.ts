import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { CosignerStorage } from '#cosigner/storage.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { Book } from './storage-contract.ts';
import { describeStorage } from './storage-contract.ts';
import { describeSessions } from './session/session-contract.ts';

/** Runs the contract over real Durable Object storage, in objects that no test has written. */

const { PERSON } = env as unknown as CoordinatorEnv;
let books = 0;

const book = (): Book => {
  books += 1;
  const stub = PERSON.getByName(`ledger-${books}`);
  return {
    open: (use) =>
      runInDurableObject(stub, (_object, state) => use(new CosignerStorage(state.storage.sql), state.storage.sql)),
    restart: () => evictDurableObject(stub),
  };
};

describeStorage(book);
describeSessions(book);
