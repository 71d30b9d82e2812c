import { describe, expect, test } from 'vitest';
import type { Book } from '../storage-contract.ts';
import { sid } from '../storage-contract.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function sessionsIn(sql: SqlStorage): number {
  return sql.exec('SELECT sid FROM session').toArray().length;
}

/** Registers the tests of session rows for any storage. @param book a new, empty storage */
export function describeSessions(book: () => Book): void {
  describe('sessions', () => {
    test('a session id can be opened once, and its round advances by one at a time', async () => {
      const { open, restart } = book();
      await open((storage) => storage.openSession(sid(1), DAY_MS));
      await restart();
      const moves = await open((storage) => [2, 2, 1, 4, 3, 3].map((round) => storage.advance(sid(1), round)));
      expect(moves).toEqual([true, false, false, false, true, false]);
      const again = await open((storage) => {
        try {
          storage.openSession(sid(1), DAY_MS);
          return 'opened';
        } catch (error) {
          return String(error);
        }
      });
      expect(again).toContain('UNIQUE');
    });

    test('a session that was never opened does not advance', async () => {
      const { open } = book();
      expect(await open((storage) => storage.advance(sid(1), 2))).toBe(false);
    });

    test('the next opening deletes a session older than a day, and keeps a younger one', async () => {
      const { open, restart } = book();
      await open((storage) => {
        storage.openSession(sid(1), 1);
        storage.openSession(sid(2), 2);
      });
      await restart();
      const moves = await open((storage) => {
        storage.openSession(sid(3), DAY_MS + 2);
        return [sid(1), sid(2), sid(3)].map((one) => storage.advance(one, 2));
      });
      expect(moves).toEqual([false, true, true]);
      expect(await open((_storage, sql) => sessionsIn(sql))).toBe(2);
    });

    test('an id that is opened again is refused before its old row is deleted', async () => {
      const { open } = book();
      await open((storage) => storage.openSession(sid(1), 1));
      const again = await open((storage) => {
        try {
          storage.openSession(sid(1), 10 * DAY_MS);
          return 'opened';
        } catch (error) {
          return String(error);
        }
      });
      expect(again).toContain('UNIQUE');
    });

    test('each 16th opening deletes at most a hundred rows, and many openings delete all of them', async () => {
      const { open } = book();
      const left = await open((storage, sql) => {
        let opened = 0;
        const open16 = (atMs: number) => {
          for (let i = 0; i < 16; i++, opened++)
            storage.openSession(Uint8Array.from([...sid(1).slice(2), opened >> 8, opened & 255]), atMs);
          return sessionsIn(sql);
        };
        for (let i = 0; i < 16; i++) open16(i);
        return [open16(2 * DAY_MS), open16(2 * DAY_MS), open16(2 * DAY_MS)];
      });
      expect(left).toEqual([172, 88, 48]);
    });
  });
}
