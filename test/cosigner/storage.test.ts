import { CosignerStorage } from '#cosigner/storage.ts';
import { memorySql } from '../objects/memory-sql.ts';
import type { Book } from './storage-contract.ts';
import { describeStorage } from './storage-contract.ts';
import { describeSessions } from './session/session-contract.ts';

/**
 * The contract of the real storage, on storage in memory: hundreds of small changes of the code are
 * tried here.
 */

const book = (): Book => {
  const sql = memorySql();
  return { open: async (use) => use(new CosignerStorage(sql), sql), restart: async () => {} };
};

describeStorage(book);
describeSessions(book);
