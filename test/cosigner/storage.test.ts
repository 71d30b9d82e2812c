import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { memorySql } from '../objects/memory-sql.ts';
import type { Book } from './storage-contract.ts';
import { describeStorage } from './storage-contract.ts';
import { describeSessions } from './session/session-contract.ts';

/**
 * Runs the contract of the co-signer storage over storage in memory, which is fast enough for
 * mutation tests.
 */

const book = (): Book => {
  const sql = memorySql();
  return { open: async (use) => use(new CosignerStorage(sql), sql), restart: async () => {} };
};

describeStorage(book);
describeSessions(book);
