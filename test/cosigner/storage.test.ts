import { CosignerStorage } from '#cosigner/storage.ts';
import { memorySql } from '../objects/memory-sql.ts';
import type { Book } from './storage-contract.ts';
import { describeStorage } from './storage-contract.ts';
import { describeSessions } from './session/session-contract.ts';

/** The stories of the real storage once more without it: small changes of the ledger are tried here by the hundred. */

const book = (): Book => {
  const sql = memorySql();
  return { open: async (use) => use(new CosignerStorage(sql), sql), restart: async () => {} };
};

describeStorage(book);
describeSessions(book);
