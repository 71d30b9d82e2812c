import { asc, count, isNotNull, max, min } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { CosignerState, FaultyShare, ShareRecord } from '#domain/operations/cosigner.ts';
import { SHARE_FAULTS } from '#domain/operations/cosigner.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { shareTests } from '#store/operations/schema.ts';

/** The number of faulty shares that are reported. */
const MAX_FAULTY = 200;

/**
 * Stores what the co-signers found. Each quarter of an hour tests some keys, so the other faults
 * must stay. A share that can be used again ends the same fault of all shares of its co-signer: one
 * setting closes all of them, and those that are lost are tested again within a day.
 */
export async function storeShareTests(db: D1Database, states: readonly CosignerState[], nowMs: number): Promise<void> {
  const rows = states.flatMap(({ node, test }) =>
    (test?.keys ?? []).map((key) => ({ ...key, node, testedAtMs: nowMs })),
  );
  const repaired =
    'DELETE FROM share_tests WHERE (node, fault) IN (SELECT stored.node, stored.fault FROM json_each(?) AS row ' +
    "JOIN share_tests AS stored ON stored.key_id = row.value ->> '$.keyId' AND stored.node = row.value ->> '$.node' " +
    "WHERE row.value ->> '$.fault' IS NULL AND stored.fault IS NOT NULL)";
  const update =
    'ON CONFLICT (key_id, node) DO UPDATE SET tested_at_ms = excluded.tested_at_ms, epoch = excluded.epoch, ' +
    'made_at_ms = excluded.made_at_ms, fault = excluded.fault';
  const [nodes] = jsonTexts(states.map(({ node }) => ({ node })));
  if (nodes === undefined) return;
  // A co-signer that is not configured any more can repair nothing.
  const gone = "DELETE FROM share_tests WHERE node NOT IN (SELECT value ->> '$.node' FROM json_each(?))";
  await db.batch([
    db.prepare(gone).bind(nodes),
    ...jsonTexts(rows).flatMap((text) => [
      db.prepare(repaired).bind(text),
      db.prepare(`${insertRows(shareTests)} ${update}`).bind(text),
    ]),
  ]);
}

/** What D1 has of the tests of shares. */
export interface ShareTests {
  /** The shares whose last test failed, the oldest test first. */
  readonly faulty: readonly FaultyShare[];
  /** One entry for each co-signer that was tested. */
  readonly records: readonly ShareRecord[];
}

export async function readShareTests(db: D1Database): Promise<ShareTests> {
  const orm = drizzle(db);
  const [faulty, records] = await orm.batch([
    orm
      .select()
      .from(shareTests)
      .where(isNotNull(shareTests.fault))
      .orderBy(asc(shareTests.testedAtMs))
      .limit(MAX_FAULTY),
    orm
      .select({
        node: shareTests.node,
        keys: count(),
        oldestMadeAtMs: min(shareTests.madeAtMs),
        newestMadeAtMs: max(shareTests.madeAtMs),
      })
      .from(shareTests)
      .groupBy(shareTests.node),
  ]);
  return {
    faulty: faulty.flatMap(({ keyId, node, epoch, madeAtMs, fault: text }) => {
      const fault = SHARE_FAULTS.find((known) => known === text);
      return fault === undefined ? [] : [{ node, share: { keyId, epoch, madeAtMs, fault } }];
    }),
    records,
  };
}
