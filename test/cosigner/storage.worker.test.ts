import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { Book } from './storage-contract.ts';
import { describeStorage } from './storage-contract.ts';
import { describeSessions } from './session/session-contract.ts';

/** Runs the contract over real Durable Object storage, in objects that no test has written. */

const { EMPTY } = env as unknown as { readonly EMPTY: DurableObjectNamespace };
let books = 0;

const book = (): Book => {
  books += 1;
  const stub = EMPTY.getByName(`ledger-${books}`);
  return {
    open: (use) =>
      runInDurableObject(stub, (_object, state) => use(new CosignerStorage(state.storage.sql), state.storage.sql)),
    restart: () => evictDurableObject(stub),
  };
};

describeStorage(book);
describeSessions(book);

/** Returns the number of rows that the rule reads when this many signatures were made before. */
async function rowsReadAfter(signatures: number): Promise<number> {
  books += 1;
  return runInDurableObject(EMPTY.getByName(`ledger-${books}`), (_object, { storage: { sql } }) => {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const exec = (query: string, ...bindings: unknown[]) => {
      const cursor = sql.exec(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    };
    const storage = new CosignerStorage({ exec } as unknown as SqlStorage);
    const sign = (number: number) => {
      const bid = { nonce: BigInt(number), maxFee: 1n, maxTip: 1n, minRisePercent: 110n };
      const signingDigest = new Uint8Array(32);
      new DataView(signingDigest.buffer).setUint32(0, number);
      const what = {
        purpose: 'intent',
        intentDigest: 'aa',
        signedMessages: [],
        signingDigest,
        bid,
        record: true,
      } as const;
      expect(storage.signed.signOnce(`1.${number}`, 1, what).ok).toBe(true);
    };
    for (let number = 0; number < signatures; number++) sign(number);
    cursors.length = 0;
    sign(signatures);
    return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  });
}

test('the sign-once rule reads as many rows however many signatures a key has made', async () => {
  expect(await rowsReadAfter(400)).toBe(await rowsReadAfter(4));
});
