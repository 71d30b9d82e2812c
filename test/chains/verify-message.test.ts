import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { getBase58Decoder } from '@solana/kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signedMessage } from '#chains/bitcoin/rules/message.ts';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import type { MessageClaim } from '#chains/message-verdict.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { verifyMessage } from '#chains/verify-message.ts';
import { messageIntent } from '../domain/cast.ts';
import { present } from './evm/cast.ts';

/** Verification of messages of all kinds, against signatures that other software has made. */

type Claim = Partial<MessageClaim> & Pick<MessageClaim, 'address' | 'message' | 'signature'>;

/** The verdict as `valid reason`, or the field that is malformed. */
function verdict(name: string, claim: Claim): string {
  const chain = present(findChain(chainsFrom({}), name));
  const answer = verifyMessage(chain.family, { chain: chain.caip2, format: null, ...claim });
  if (!answer.ok) return `${answer.refusal.field} ${answer.refusal.detail}`;
  const { valid, reason } = answer.value.verdict;
  return reason === null ? `${valid} ${answer.value.format}` : `${valid} ${reason}`;
}

/** The documentation of web3.js, `web3.eth.accounts.sign`. */
const SOME_DATA = {
  address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
  message: 'Some data',
  signature:
    '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
};

/** EIP-712, "Test Cases": the key is keccak256('cow'). */
const MAIL = {
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};
const COW = {
  address: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826',
  message: JSON.stringify(MAIL),
  signature:
    '0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c',
};
const BOB = '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB';

/** The other s of an Ethereum signature, with the other v: what anyone can make of it. */
function turnedAround(signature: string): string {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)];
  const other = (secp256k1.Point.Fn.ORDER - s).toString(16).padStart(64, '0');
  return `0x${r}${other}${v === '1b' ? '1c' : '1b'}`;
}

test('signatures of other software are valid on Ethereum, for their address and message alone', () => {
  expect(verdict('ethereum', SOME_DATA)).toBe('true eip191');
  expect(verdict('ethereum', COW)).toBe('true eip712');
  expect(verdict('ethereum', { ...COW, message: JSON.stringify(MAIL, null, 2) })).toBe('true eip712');
  for (const claim of [SOME_DATA, COW]) {
    expect(verdict('ethereum', { ...claim, address: BOB })).toBe('false other-signer');
    expect(verdict('ethereum', { ...claim, message: 'Another text' })).toBe('false other-signer');
  }
  const forged = JSON.stringify({ ...MAIL, message: { ...MAIL.message, contents: 'Hello, Mallory!' } });
  expect(verdict('ethereum', { ...COW, message: forged })).toBe('false other-signer');
});

test('a text names no chain, and typed data is of the chain that its domain names', () => {
  expect(verdict('ethereum-sepolia', SOME_DATA)).toBe('true eip191');
  expect(verdict('ethereum-sepolia', COW)).toBe('message domain.chainId must be the id of this chain.');
});

test('JSON of typed data that was signed as a text is valid when the claim says so', () => {
  // By viem, with the key of the example of web3.js.
  const signature =
    '0x2b89c2b782487b58c35612155fef6ca8a034dc5629018729699a4bc2ee50562026f3858831eeec1823cb44533bab6a5d1b61bcdbb90517d1c476f7e701ce858c1b';
  const claim = { ...COW, address: SOME_DATA.address, signature };
  expect(verdict('ethereum', { ...claim, format: 'eip191' })).toBe('true eip191');
  expect(verdict('ethereum', claim)).toBe('false other-signer');
  expect(verdict('ethereum', { ...SOME_DATA, format: 'eip712' })).toMatch(/^message Must be JSON/);
  expect(verdict('ethereum', { ...SOME_DATA, format: 'bip322' })).toMatch(/^format The format is not supported/);
});

test('the other form of an ECDSA signature, which anyone can make, is not valid', () => {
  for (const claim of [SOME_DATA, COW]) {
    const signature = turnedAround(claim.signature);
    expect(verdict('ethereum', { ...claim, signature })).toBe('false not-canonical');
  }
});

test.each([
  ['nothing', '0x', 'signature Must have 65 bytes'],
  ['no hex', `0x${'zz'.repeat(65)}`, 'signature Must be hex'],
  ['no 0x', SOME_DATA.signature.slice(2), 'signature Must be hex'],
  ['half a byte', `${SOME_DATA.signature}0`, 'signature Must be hex'],
  ['one byte too few', SOME_DATA.signature.slice(0, -2), 'signature Must have 65 bytes'],
  ['v of 1', `${SOME_DATA.signature.slice(0, -2)}01`, 'signature Must end with v'],
  ['v of 29', `${SOME_DATA.signature.slice(0, -2)}1d`, 'signature Must end with v'],
  ['the other v', `${SOME_DATA.signature.slice(0, -2)}1b`, 'false other-signer'],
  ['zeros', `0x${'00'.repeat(64)}1b`, 'false other-signer'],
  ['scalars out of range', `0x${'ff'.repeat(64)}1b`, 'false other-signer'],
  ['two signatures, as a contract wallet takes', `${SOME_DATA.signature}${'11'.repeat(65)}`, 'null contract-wallet'],
])('Ethereum: %s', (_name, signature, expected) => {
  expect(verdict('ethereum', { ...SOME_DATA, signature })).toMatch(new RegExp(`^${expected}`));
});

interface Vector {
  readonly message: string;
  readonly address: string;
  readonly type: string;
  readonly signatures: readonly string[];
}

interface Vectors {
  readonly simple: readonly Vector[];
  readonly full: readonly Vector[];
  readonly error: readonly {
    readonly description: string;
    readonly message: string;
    readonly address: string;
    readonly signature: string;
  }[];
}

const BIP322 = JSON.parse(readFileSync(join(import.meta.dirname, 'bitcoin/fixtures/bip322.json'), 'utf8')) as Vectors;
const CHECKED = BIP322.simple.filter(({ type }) => type === 'p2wpkh' || type === 'p2tr');

test.each(CHECKED)(
  'BIP-322: the vectors of $type for "$message" are valid, with and without their variant',
  (vector) => {
    for (const signature of vector.signatures) {
      const bare = signature.replace(/^smp/, '');
      expect(verdict('bitcoin', { ...vector, signature: `smp${bare}` })).toBe('true bip322');
      expect(verdict('bitcoin', { ...vector, signature: bare })).toBe('true bip322');
      expect(verdict('bitcoin', { ...vector, signature, message: `${vector.message}!` })).toBe('false other-signer');
      for (const { address } of CHECKED.filter((other) => other.address !== vector.address)) {
        expect(verdict('bitcoin', { ...vector, signature, address })).toMatch(/^(false|null) /);
      }
    }
  },
);

test.each([...BIP322.simple.filter((vector) => !CHECKED.includes(vector)), ...BIP322.full])(
  'BIP-322: what only an interpreter can tell is not said to be wrong: $type of "$message"',
  (vector) => {
    for (const signature of vector.signatures) {
      expect(verdict('bitcoin', { ...vector, signature })).toMatch(/^null other-(script|variant)$/);
    }
  },
);

test.each(BIP322.error)('BIP-322: $description', (vector) => {
  expect(verdict('bitcoin', vector)).toMatch(/^(false other-signer|null other-|signature Must be a witness stack)/);
});

const ALL = 0x01;
const vectorOf = (requested: string) => {
  const { message, address, signatures } = present(CHECKED.find(({ type }) => type === requested));
  return { message, address, stack: Buffer.from(present(signatures[0]).replace(/^smp/, ''), 'base64') };
};
const smp = (...items: readonly Uint8Array[]) =>
  `smp${Buffer.concat([Buffer.of(items.length), ...items.flatMap((item) => [Buffer.of(item.length), item])]).toString('base64')}`;

test('BIP-322, P2WPKH: a right signature of the very hash by a key of another address is not valid', () => {
  const { message, address } = vectorOf('p2wpkh');
  const intent = {
    ...messageIntent(),
    chain: `bip122:${GENESIS.mainnet}`,
    from: address,
    format: 'bip322',
    message,
  } as const;
  const { sighash } = present(signedMessage(intent));
  const mallory = secp256k1.utils.randomSecretKey();
  const { Fn, BASE } = secp256k1.Point;
  const [nonce, secret] = [Fn.fromBytes(secp256k1.utils.randomSecretKey()), Fn.fromBytes(mallory)];
  const r = Fn.create(BASE.multiply(nonce).x);
  const s = Fn.mul(Fn.inv(nonce), Fn.add(Fn.create(BigInt(`0x${bytesToHex(sighash)}`)), Fn.mul(r, secret)));
  const der = new secp256k1.Signature(r, s > Fn.ORDER / 2n ? Fn.neg(s) : s).toBytes('der');
  const signature = smp(Buffer.of(...der, ALL), secp256k1.getPublicKey(mallory));
  expect(verdict('bitcoin', { message, address, signature })).toBe('false other-signer');
});

test('BIP-322, P2WPKH: high s, another hash type, loose DER and another key are not valid', () => {
  const { message, address, stack } = vectorOf('p2wpkh');
  const length = present(stack[1]);
  const [typed, key] = [stack.subarray(2, 2 + length), stack.subarray(-33)];
  const der = typed.subarray(0, -1);
  const request = (...items: readonly Uint8Array[]) =>
    verdict('bitcoin', { message, address, signature: smp(...items) });
  expect(request(typed, key)).toBe('true bip322');
  const { r, s } = secp256k1.Signature.fromBytes(Uint8Array.from(der), 'der');
  const high = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der');
  expect(request(Buffer.of(...high, ALL), key)).toBe('false not-canonical');
  for (const type of [0x00, 0x02, 0x03, 0x81])
    expect(request(Buffer.of(...der, type), key)).toBe('false not-canonical');
  expect(request(Buffer.of(...der, 0, ALL), key)).toBe('false not-canonical');
  expect(request(Buffer.of(ALL), key)).toBe('false not-canonical');
  expect(request(Buffer.of(), key)).toBe('false not-canonical');
  const other = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
  for (const items of [[typed, other], [typed], [typed, key, key], [key, typed], []]) {
    expect(request(...items)).toMatch(/^false/);
  }
  const uncompressed = secp256k1.Point.fromBytes(Uint8Array.from(key)).toBytes(false);
  expect(request(typed, uncompressed)).toBe('false other-signer');
});

test('BIP-322, P2TR: the hash types DEFAULT and ALL are valid, and no other; scripts are not judged', () => {
  const { message, address, stack } = vectorOf('p2tr');
  const signature = stack.subarray(2);
  const request = (...items: readonly Uint8Array[]) =>
    verdict('bitcoin', { message, address, signature: smp(...items) });
  expect(request(signature)).toBe('true bip322');
  // The same signature under the type ALL is over another hash.
  expect(request(Buffer.of(...signature, ALL))).toBe('false other-signer');
  for (const type of [0x00, 0x02, 0x83]) expect(request(Buffer.of(...signature, type))).toBe('false not-canonical');
  expect(request(signature, Buffer.of(0x50))).toBe('null other-script');
  for (const items of [[], [Buffer.of()], [signature.subarray(1)], [Buffer.of(...signature, 1, 1)]]) {
    expect(request(...items)).toBe('false other-signer');
  }
  expect(request(Buffer.alloc(300), Buffer.alloc(300))).toMatch(/^signature/);
});

test.each([
  ['nothing behind the variant', 'smp'],
  ['another alphabet', 'smp-_-_'],
  ['no padding', 'smpAUE'],
  ['a line break', 'smpAQA=\n'],
  ['bits that no byte holds', 'smpAB=='],
  ['an element that breaks off', 'smpAQI='],
  ['something left over', 'smpAAA='],
  ['a length in more bytes than it takes', `smp${Buffer.of(1, 0xfd, 1, 0, 7).toString('base64')}`],
  ['more elements than there are', `smp${Buffer.of(2, 1, 7).toString('base64')}`],
])('BIP-322: %s is no witness stack', (_name, signature) => {
  const { message, address } = vectorOf('p2wpkh');
  expect(verdict('bitcoin', { message, address, signature })).toMatch(/^signature Must be a witness stack/);
});

const SOLANA_KEY = generateKeyPairSync('ed25519');
const PUBLIC_KEY = Buffer.from(present(SOLANA_KEY.publicKey.export({ format: 'jwk' }).x), 'base64url');

/** sRFC 3, version 1, with one signatory: written from the standard. */
function offchain(message: string, publicKey: Uint8Array = PUBLIC_KEY): Buffer {
  return Buffer.concat([
    Buffer.of(0xff),
    Buffer.from('solana offchain'),
    Buffer.of(1, 1),
    publicKey,
    Buffer.from(message),
  ]);
}

const base58 = (bytes: Uint8Array) => getBase58Decoder().decode(bytes);
const wallet = base58(PUBLIC_KEY);
const SIGNED = sign(null, offchain('Grüße'), SOLANA_KEY.privateKey);
const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

test('an off-chain message of Solana is valid for its wallet and text alone', () => {
  const claim = { address: wallet, message: 'Grüße', signature: base58(SIGNED) };
  expect(verdict('solana', claim)).toBe('true solana-offchain');
  expect(verdict('solana', { ...claim, format: 'solana-offchain' })).toBe('true solana-offchain');
  expect(verdict('solana', { ...claim, message: 'Gruesse' })).toBe('false other-signer');
  const other = base58(
    Buffer.from(present(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x), 'base64url'),
  );
  expect(verdict('solana', { ...claim, address: other })).toBe('false other-signer');
  // The bare text is what a transaction could be; version 0 is another envelope.
  expect(
    verdict('solana', { ...claim, signature: base58(sign(null, Buffer.from('Grüße'), SOLANA_KEY.privateKey)) }),
  ).toBe('false other-signer');
  expect(verdict('solana', { ...claim, format: 'eip191' })).toMatch(/^format/);
  expect(verdict('solana', { ...claim, message: '' })).toBe('message Must not be empty.');
});

test('Solana: S beyond the order, which anyone can make of a signature, is not valid', () => {
  const s = bytesToNumberLE(Uint8Array.from(SIGNED.subarray(32)));
  const beyond = numberToBytesLE(s + ED25519_ORDER, 32);
  const signature = base58(Buffer.concat([SIGNED.subarray(0, 32), beyond]));
  expect(verdict('solana', { address: wallet, message: 'Grüße', signature })).toBe('false other-signer');
});

test('Solana: a nonce point of small order is refused even from the owner of the key', () => {
  // R is the neutral point, so S = k * a is a signature that the equation alone would take.
  const neutral = Buffer.from('01'.padEnd(64, '0'), 'hex');
  const signature = signedWithNeutralNonce(neutral);
  expect(verdict('solana', { address: wallet, message: 'Grüße', signature: base58(signature) })).toBe(
    'false not-canonical',
  );
});

function signedWithNeutralNonce(nonce: Uint8Array): Uint8Array {
  const seed = Buffer.from(present(SOLANA_KEY.privateKey.export({ format: 'jwk' }).d), 'base64url');
  const half = createHash('sha512').update(seed).digest().subarray(0, 32);
  half[0] = present(half[0]) & 248;
  half[31] = (present(half[31]) & 127) | 64;
  const scalar = bytesToNumberLE(Uint8Array.from(half));
  const hash = createHash('sha512').update(nonce).update(PUBLIC_KEY).update(offchain('Grüße')).digest();
  const k = bytesToNumberLE(Uint8Array.from(hash)) % ED25519_ORDER;
  return Buffer.concat([nonce, numberToBytesLE((k * scalar) % ED25519_ORDER, 32)]);
}

test.each([
  ['63 bytes', base58(SIGNED.subarray(1))],
  ['65 bytes', base58(Buffer.concat([SIGNED, Buffer.of(1)]))],
  ['a digit that base58 has not', base58(SIGNED).replace(/^./, '0')],
  ['base64', Buffer.from(SIGNED).toString('base64')],
  ['a long text', '1'.repeat(10_000)],
])('Solana: %s is no signature', (_name, signature) => {
  expect(verdict('solana', { address: wallet, message: 'Grüße', signature })).toMatch(/^signature Must be 64 bytes/);
});

test('no signature with one bit changed is valid, of any kind', () => {
  const kinds: readonly (readonly [string, Claim, Uint8Array, (bytes: Uint8Array) => string])[] = [
    ['ethereum', SOME_DATA, hexToBytes(SOME_DATA.signature.slice(2)), (bytes) => `0x${bytesToHex(bytes)}`],
    ['solana', { address: wallet, message: 'Grüße', signature: '' }, SIGNED, base58],
    ...(['p2wpkh', 'p2tr'] as const).map((type) => {
      const { stack, ...claim } = vectorOf(type);
      const text = (bytes: Uint8Array) => `smp${Buffer.from(bytes).toString('base64')}`;
      return ['bitcoin', { ...claim, signature: '' }, stack, text] as const;
    }),
  ];
  for (const [chain, claim, bytes, text] of kinds) {
    expect(verdict(chain, { ...claim, signature: text(bytes) })).toMatch(/^true/);
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const changed = Uint8Array.from(bytes);
        changed[bit >> 3] = present(changed[bit >> 3]) ^ (1 << (bit & 7));
        expect(verdict(chain, { ...claim, signature: text(changed) })).not.toMatch(/^true/);
      }),
      { numRuns: 60 },
    );
  }
});
