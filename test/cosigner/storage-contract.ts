import { bytesToHex } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import type { CheckedRequest as Checked } from '#cosigner/policy/approval-check.ts';
import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import { parseVaultId } from '#domain/id.ts';
import { present } from '../chains/evm/cast.ts';
import { policy } from '../domain/cast.ts';

/** The storage of one co-signer. */
export interface Book {
  /** Opens the storage as after a restart, with nothing of the former one in memory. */
  readonly open: <T>(use: (storage: CosignerStorage, sql: SqlStorage) => T) => Promise<T>;
  /** Empties the memory of the storage's owner. */
  readonly restart: () => Promise<void>;
}

type CheckedRequest = Omit<Checked, 'policy'>;

export const sid = (number: number) => new Uint8Array(32).fill(number);
const checked = (
  digest: number,
  change: Partial<{ nonce: bigint; fee: bigint; tip: bigint; intent: string; purpose: 'intent' | 'cancellation' }> = {},
): CheckedRequest => ({
  purpose: change.purpose ?? 'intent',
  intentDigest: change.intent ?? 'aa'.repeat(32),
  signedMessages: [new Uint8Array(32).fill(digest)],
  signingDigest: new Uint8Array(32).fill(digest),
  bid: {
    nonce: change.nonce ?? 4n,
    maxFee: change.fee ?? 1000n,
    maxTip: change.tip ?? 100n,
    minRisePercent: 110n,
  },
});
const bidOf = (fee: bigint) => ({
  nonce: 4n,
  maxFee: fee,
  maxTip: fee,
  minRisePercent: 110n,
});
const message = (digest: number) => ({ ...checked(digest), bid: null });
const TX = '7.01J9ZK0000000000000000000A';
const OTHER_TX = '7.01J9ZK0000000000000000000B';

/**
 * Checks the request and, when it is allowed, records it; returns 'signs' or the code of the
 * refusal.
 */
function request(storage: CosignerStorage, transactionId: string, attempt: number, what: CheckedRequest): string {
  const answer = storage.signed.signOnce(transactionId, attempt, { ...what, record: true });
  return answer.ok ? 'signs' : answer.refusal.code;
}

/** Registers the tests of a co-signer storage for any storage. @param book a new, empty storage */
export function describeStorage(book: () => Book): void {
  describe('the sign-once row', () => {
    test('the same digest may be signed again, and another digest is refused, also after a restart', async () => {
      const { open, restart } = book();
      expect(await open((storage) => request(storage, TX, 1, checked(1)))).toBe('signs');
      await restart();
      expect(await open((storage) => request(storage, TX, 1, checked(1)))).toBe('signs');
      expect(await open((storage) => request(storage, TX, 1, checked(2)))).toBe('second-digest');
      expect(await open((storage) => request(storage, TX, 1, checked(2, { fee: 9999n, tip: 9999n })))).toBe(
        'second-digest',
      );
    });

    test('a cancellation with higher fees replaces the payment, and only another cancellation may follow it', async () => {
      const { open } = book();
      const cancels = (digest: number, fee: bigint, nonce = 4n) =>
        checked(digest, { fee, tip: fee / 10n, nonce, purpose: 'cancellation' });
      const answers = await open((storage) => [
        request(storage, TX, 1, checked(1)),
        request(storage, TX, 2, cancels(2, 1050n)),
        request(storage, TX, 2, cancels(2, 1100n, 5n)),
        request(storage, TX, 2, cancels(2, 1100n)),
        request(storage, TX, 3, checked(3, { fee: 2000n, tip: 200n })),
        request(storage, TX, 3, cancels(3, 2000n)),
      ]);
      expect(answers).toEqual(['signs', 'second-digest', 'second-digest', 'signs', 'second-digest', 'signs']);
    });

    test('a cancellation may be signed before its payment, which is then refused, and a message has no cancellation', async () => {
      const { open } = book();
      const cancels = (digest: number, nonce = 4n) => checked(digest, { nonce, purpose: 'cancellation' });
      const answers = await open((storage) => [
        request(storage, TX, 2, cancels(1)),
        request(storage, TX, 1, checked(2)),
        request(storage, TX, 3, checked(2, { fee: 9999n, tip: 9999n })),
        request(storage, TX, 3, { ...cancels(3, 5n), bid: { ...bidOf(9999n), nonce: 5n } }),
        request(storage, TX, 3, { ...cancels(3), bid: bidOf(9999n) }),
        request(storage, OTHER_TX, 1, { ...message(4), purpose: 'cancellation' }),
      ]);
      const no = 'second-digest';
      expect(answers).toEqual(['signs', no, no, no, 'signs', no]);
    });

    test('a check without a record does not restrict later signatures', async () => {
      const { open } = book();
      const answer = await open((storage) => storage.signed.signOnce(TX, 1, { ...checked(1), record: false }).ok);
      expect([answer, await open((storage) => request(storage, TX, 1, checked(2)))]).toEqual([true, 'signs']);
    });

    test('a message has one digest too, and nothing replaces it', async () => {
      const { open } = book();
      const answers = await open((storage) => [
        request(storage, TX, 1, message(1)),
        request(storage, TX, 1, message(1)),
        request(storage, TX, 1, message(2)),
        request(storage, TX, 2, message(2)),
        request(storage, TX, 2, checked(2, { fee: 9999n, tip: 9999n })),
      ]);
      expect(answers).toEqual(['signs', 'signs', 'second-digest', 'second-digest', 'second-digest']);
    });

    test('the same text may be signed again for another message, and never as a transaction', async () => {
      const { open } = book();
      const answers = await open((storage) => [
        request(storage, TX, 1, message(1)),
        request(storage, OTHER_TX, 1, message(1)),
        request(storage, '7.01J9ZK0000000000000000000C', 1, checked(1)),
        request(storage, '7.01J9ZK0000000000000000000D', 1, checked(2)),
        request(storage, '7.01J9ZK0000000000000000000E', 1, message(2)),
      ]);
      expect(answers).toEqual(['signs', 'signs', 'second-digest', 'signs', 'second-digest']);
    });

    test('bytes that were signed for one transaction are not signed for another', async () => {
      const { open } = book();
      await open((storage) => request(storage, TX, 1, checked(1)));
      expect(await open((storage) => request(storage, OTHER_TX, 1, checked(1)))).toBe('second-digest');
      expect(await open((storage) => request(storage, OTHER_TX, 1, checked(2)))).toBe('signs');
    });

    test('a message does not replace a transaction', async () => {
      const { open } = book();
      const answers = await open((storage) => [
        request(storage, TX, 1, checked(1)),
        request(storage, TX, 2, message(2)),
      ]);
      expect(answers).toEqual(['signs', 'second-digest']);
    });

    test('a UNIQUE constraint in SQL prevents a second row with the same digest', async () => {
      const { open } = book();
      await open((storage) => request(storage, TX, 1, checked(1)));
      const doubled = await open((_storage, sql) => {
        try {
          sql.exec(
            `INSERT INTO signed SELECT '${OTHER_TX}', attempt, purpose, intent_digest, signing_digest, nonce, max_fee, max_tip FROM signed`,
          );
          return 'written';
        } catch (error) {
          return String(error);
        }
      });
      expect(doubled).toContain('UNIQUE');
    });
  });

  describe('a record that witnesses attest', () => {
    const hex = (digest: number) => bytesToHex(new Uint8Array(32).fill(digest));
    const record = (digest: number, change: Partial<SignedRecord> = {}): SignedRecord => ({
      transactionId: TX,
      attempt: 1,
      purpose: 'intent',
      intentDigest: 'aa'.repeat(32),
      signingDigest: hex(digest),
      nonce: '4',
      maxFee: '1000',
      maxTip: '100',
      ...change,
    });

    test('an attested record counts as if this co-signer had signed it', async () => {
      const { open, restart } = book();
      expect(await open((storage) => storage.signed.remember(record(1)))).toBe(true);
      await restart();
      expect(await open((storage) => storage.signed.recordsOf(TX))).toEqual([record(1)]);
      expect(
        await open((storage) => [request(storage, TX, 1, checked(2)), request(storage, TX, 1, checked(1))]),
      ).toEqual(['second-digest', 'signs']);
    });

    test('an attested record replaces no other record, and the call returns whether it is recorded', async () => {
      const { open } = book();
      const second = record(2, { attempt: 2, maxFee: '1100', maxTip: '110' });
      const response = await open((storage) => {
        request(storage, TX, 1, checked(1));
        return [
          storage.signed.remember(record(1)),
          storage.signed.remember(record(2)),
          storage.signed.remember(second),
          storage.signed.remember(record(1)),
          storage.signed.remember(record(1, { attempt: 2 })),
          storage.signed.remember(record(3)),
        ];
      });
      expect(response).toEqual([true, false, true, true, false, false]);
      expect(await open((storage) => storage.signed.recordsOf(TX))).toEqual([record(1), second]);
    });

    test('a record with another nonce or intent than a row, or with the bytes of another transaction, changes nothing', async () => {
      const { open } = book();
      await open((storage) => request(storage, TX, 1, checked(1)));
      const others = [
        record(2, { attempt: 2, nonce: '5' }),
        record(2, { attempt: 2, intentDigest: 'bb'.repeat(32) }),
        record(1, { transactionId: OTHER_TX }),
        record(1, { transactionId: OTHER_TX }),
      ];
      expect(await open((storage) => others.map((one) => storage.signed.remember(one)))).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect(await open((storage) => storage.signed.recordsOf(TX))).toEqual([record(1)]);
      expect(await open((storage) => storage.signed.recordsOf(OTHER_TX))).toEqual([]);
    });

    test('an attested record has no replacement when its fees or nonce are missing', async () => {
      const { open } = book();
      for (const change of [{ maxFee: null }, { maxTip: null }, { nonce: null }]) {
        const { open: another } = book();
        await another((storage) => storage.signed.remember(record(1, change)));
        const answer = await another((storage) => request(storage, TX, 2, checked(2, { fee: 9999n, tip: 9999n })));
        expect([change, answer]).toEqual([change, 'second-digest']);
      }
      await open((storage) => storage.signed.remember(record(1)));
      expect(await open((storage) => request(storage, TX, 2, checked(2, { fee: 9999n, tip: 9999n })))).toBe('signs');
    });
  });

  describe('a replacement', () => {
    test.each<[string, number, ReturnType<typeof checked>, string]>([
      ['a tenth more of both prices', 2, checked(2, { fee: 1100n, tip: 110n }), 'signs'],
      ['a hair less than a tenth of the fee', 2, checked(2, { fee: 1099n, tip: 110n }), 'second-digest'],
      ['a hair less than a tenth of the tip', 2, checked(2, { fee: 1100n, tip: 109n }), 'second-digest'],
      ['another account nonce', 2, checked(2, { fee: 1100n, tip: 110n, nonce: 5n }), 'second-digest'],
      ['another intent', 2, checked(2, { fee: 1100n, tip: 110n, intent: 'bb'.repeat(32) }), 'second-digest'],
      ['the number of the first', 1, checked(2, { fee: 1100n, tip: 110n }), 'second-digest'],
      ['a number before the first', 0, checked(2, { fee: 1100n, tip: 110n }), 'second-digest'],
      ['the same bytes under the next number', 2, checked(1), 'second-digest'],
    ])('a replacement with %s is signed or refused as expected', async (_name, attempt, what, outcome) => {
      const { open } = book();
      await open((storage) => request(storage, TX, 1, checked(1)));
      expect(await open((storage) => request(storage, TX, attempt, what))).toBe(outcome);
    });

    test('an attempt is signed again after its replacement, because at most one of them is mined', async () => {
      const { open } = book();
      await open((storage) => request(storage, TX, 1, checked(1)));
      await open((storage) => request(storage, TX, 2, checked(2, { fee: 1100n, tip: 110n })));
      expect(await open((storage) => request(storage, TX, 1, checked(1)))).toBe('signs');
      expect(await open((storage) => request(storage, TX, 1, checked(3, { fee: 1300n, tip: 130n })))).toBe(
        'second-digest',
      );
    });
  });

  test('the first ban is kept, whatever is found later', async () => {
    const { open, restart } = book();
    expect(await open((storage) => storage.ban('aa'))).toBeNull();
    const banned = open((storage) => {
      const before = storage.ban('cc');
      storage.putBan('cc', 'sign-3/vole', 1);
      return [before, storage.ban('cc'), storage.ban('aa')];
    });
    expect(await banned).toEqual([null, 'sign-3/vole', null]);
    await open((storage) => storage.putBan('aa', 'sign-2/ot-extension', 1));
    await open((storage) => storage.putBan('aa', 'sign-3/vole', 2));
    await restart();
    expect(await open((storage) => [storage.ban('aa'), storage.ban('bb')])).toEqual(['sign-2/ot-extension', null]);
  });

  test('the last stored sealed record is returned unchanged', async () => {
    const { open, restart } = book();
    const record = (number: number) => ({ kekId: 'k', salt: sid(number), iv: sid(9), ciphertext: sid(number) });
    const pair = (number: number) => ({ epoch: 1, madeAtMs: number, label: `setup ${number}`, record: record(number) });
    await open((storage) => storage.sealed.put({ ...pair(1), baseEpoch: 0, isActive: true }));
    await open((storage) => storage.sealed.put({ ...pair(2), baseEpoch: 0, isActive: true }));
    await restart();
    expect(await open((storage) => storage.sealed.all())).toEqual([{ ...pair(2), isActive: true, receipts: {} }]);
  });

  test('shares of later epochs wait beside the active share, and activating one of them deletes older shares', async () => {
    const { open, restart } = book();
    const record = { kekId: 'k', salt: sid(1), iv: sid(2), ciphertext: sid(3) };
    const share = (epoch: number, baseEpoch: number, isActive: boolean) => {
      return { epoch, baseEpoch, isActive, madeAtMs: epoch, label: `statement ${epoch}`, record };
    };
    await open((storage) => storage.sealed.put(share(1, 0, true)));
    await open((storage) => storage.sealed.put(share(2, 1, false)));
    await open((storage) => storage.sealed.put(share(4, 1, false)));
    expect(await open((storage) => storage.sealed.inUse()?.epoch)).toBe(1);
    await open((storage) => storage.sealed.activate(2, { receipts: { 1: 'aa' }, nowMs: 1000 }));
    await restart();
    const epochs = () =>
      open((storage) => storage.sealed.all().map(({ epoch, isActive, receipts }) => [epoch, isActive, receipts]));
    expect(await epochs()).toEqual([
      [2, true, { 1: 'aa' }],
      [4, false, {}],
    ]);
    // Epoch 4 was dealt before epoch 2 was activated, but it is the newest share.
    await open((storage) => storage.sealed.activate(4, { receipts: { 1: 'bb' }, nowMs: 2000 }));
    expect(await epochs()).toEqual([[4, true, { 1: 'bb' }]]);
    expect(await open((storage) => storage.sealed.remembersSinceMs())).toBe(0);
  });

  test('a co-signer without an active share before the dealt one remembers records only from its activation', async () => {
    const record = { kekId: 'k', salt: sid(1), iv: sid(2), ciphertext: sid(3) };
    const dealt = { epoch: 3, baseEpoch: 2, isActive: false, madeAtMs: 3, label: 'statement', record };
    for (const before of [[], [{ ...dealt, epoch: 1, baseEpoch: 0, isActive: true }]]) {
      const { open, restart } = book();
      for (const one of before) await open((storage) => storage.sealed.put(one));
      await open((storage) => storage.sealed.put(dealt));
      await open((storage) => storage.sealed.activate(3, { receipts: {}, nowMs: 1000 }));
      await restart();
      expect(await open((storage) => storage.sealed.remembersSinceMs())).toBe(1000);
    }
  });

  test('a value that was read before is read again after a write', async () => {
    const { open } = book();
    const record = { kekId: 'k', salt: sid(1), iv: sid(2), ciphertext: sid(3) };
    const share = (epoch: number, isActive: boolean) => {
      return { epoch, baseEpoch: epoch - 1, isActive, madeAtMs: epoch, label: `statement ${epoch}`, record };
    };
    const seen = await open((storage) => {
      const epochs = () => storage.sealed.all().map(({ epoch, isActive }) => [epoch, isActive]);
      const observations: unknown[] = [epochs(), storage.sealed.remembersSinceMs(), storage.vaultId()];
      storage.sealed.put(share(1, false));
      storage.putVaultId(policy.vaultId);
      observations.push(epochs(), storage.vaultId());
      storage.sealed.put(share(3, false));
      observations.push(epochs());
      storage.sealed.activate(3, { receipts: {}, nowMs: 1000 });
      observations.push(epochs(), storage.sealed.remembersSinceMs());
      return observations;
    });
    const both = [
      [1, false],
      [3, false],
    ];
    expect(seen).toEqual([[], 0, null, [[1, false]], policy.vaultId, both, [[3, true]], 1000]);
  });

  test('a key belongs to one vault for ever', async () => {
    const { open } = book();
    const other = present(parseVaultId(8));
    await open((storage) => storage.putVaultId(policy.vaultId));
    await open((storage) => storage.putVaultId(policy.vaultId));
    const [vaultId, again] = await open((storage) => {
      try {
        storage.putVaultId(other);
        return [storage.vaultId(), 'written'];
      } catch (error) {
        return [storage.vaultId(), String(error)];
      }
    });
    expect(vaultId).toBe(policy.vaultId);
    expect(again).toContain('UNIQUE');
  });

  test('a check on an empty storage creates no table', async () => {
    const { open } = book();
    const tables = await open((storage, sql) => {
      const before = sql.exec('SELECT name FROM sqlite_master').toArray().length;
      storage.sealed.inUse();
      storage.vaultId();
      storage.ban('aa');
      storage.signed.signOnce(TX, 1, { ...checked(1), record: false });
      return sql.exec('SELECT name FROM sqlite_master').toArray().length - before;
    });
    expect(tables).toBe(0);
  });
}
