import { expect, test } from 'vitest';
import { fingerprintOf, isFingerprintOf } from '#devices/pin-fingerprint.ts';

const pins = [1, 2, 3].map((index) => ({ index, signing: `${index}e`.repeat(32) }));

test('equal keys in equal order have one fingerprint, and other keys or another order have another', () => {
  expect(fingerprintOf(pins)).toMatch(/^([0-9a-f]{4}-){4}[0-9a-f]{4}$/);
  // This known answer was computed without this code: people compare a fingerprint with one that an
  // operator wrote down years ago.
  expect(fingerprintOf(pins)).toBe('d0bf-872f-c030-d65e-2d2f');
  const others = [
    pins.slice(0, 2),
    pins.toReversed(),
    pins.map((pin) => ({ ...pin, index: pin.index + 1 })),
    pins.map((pin) => (pin.index === 3 ? { ...pin, signing: '3d'.repeat(32) } : pin)),
  ];
  for (const other of others) expect(fingerprintOf(other)).not.toBe(fingerprintOf(pins));
});

test('a fingerprint must be entered in full, with any separators', () => {
  const entered = fingerprintOf(pins);
  const spellings = [entered, entered.toUpperCase(), entered.replaceAll('-', ''), ` ${entered.replaceAll('-', ' ')} `];
  for (const text of spellings) expect(isFingerprintOf(text, pins)).toBe(true);
  for (const text of ['', entered.slice(0, -1), `${entered}0`, entered.slice(0, 4), 'x']) {
    expect(isFingerprintOf(text, pins)).toBe(false);
  }
});
