import { createPrivateKey } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Device } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { alice, bob, carol } from '../domain/cast.ts';
import { clock } from './clock.ts';

/** The PKCS #8 prefix of the 32 bytes of an Ed25519 key (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A device with the name of its owner. Mallory's devices claim to be alice's and bob's. */
export interface Owned {
  readonly name: string;
  readonly actor: Actor;
  readonly device: Device;
  readonly script: ScriptDevice;
}

function owned(name: string, actor: Actor): Owned {
  const secret = Buffer.concat([PKCS8, sha256(utf8ToBytes(`a device of the games: ${name}`))]);
  const script = new ScriptDevice(createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }));
  return { name, actor, device: script.asDevice(actor.userId), script };
}

export const PEOPLE: readonly Actor[] = [alice, bob, carol];
const NAMES = ['alice', 'bob', 'carol'];

/** The devices of the people as three sets; each set replaces the one before. */
const SETS: readonly (readonly Owned[])[] = ['first', 'second', 'third'].map((which) =>
  PEOPLE.map((actor, i) => owned(`${NAMES[i]}'s ${which} device`, actor)),
);

/** Devices that mallory has made, under the names of alice and bob. */
export const FORGED: readonly Owned[] = [owned("mallory's device for alice", alice), owned("mallory's for bob", bob)];

export function devicesOf(owners: readonly Owned[]): readonly Device[] {
  return sortedByKeyId(owners.map(({ device }) => device));
}

/**
 * The digests that each device has signed, in the hands of its owner or of a thief. The oracle
 * counts only these.
 */
export class SignedDigests {
  readonly #byDevice = new Map<string, Set<string>>();

  sign({ actor, script, device }: Owned, digest: string): Approval {
    const known = this.#byDevice.get(device.keyId) ?? new Set<string>();
    this.#byDevice.set(device.keyId, known.add(digest));
    return { actor, digest, device: script.signed(digest), atMs: clock.nowMs };
  }

  /**
   * Returns how many signers of this policy have signed this digest with a device of the policy.
   */
  signersOf(digest: string, policy: Policy): number {
    const signed = policy.devices.filter(({ keyId }) => this.#byDevice.get(keyId)?.has(digest) === true);
    return new Set(signed.map(({ userId }) => userId).filter((userId) => policy.signers.includes(userId))).size;
  }
}

/**
 * Alice, bob and carol. They read what is shown to them, compare addresses without regard to case,
 * ignore fees, and sign what they have requested. They know the policy change that they signed
 * last.
 */
export class People {
  readonly digests = new SignedDigests();
  #set = 0;
  /** The policy that the people believe to be in force. */
  policy: Policy;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  static firstDevices(): readonly Device[] {
    return devicesOf(SETS[0] ?? []);
  }

  get devices(): readonly Owned[] {
    return SETS[this.#set] ?? [];
  }

  /** Returns the set that replaces the current devices; null when no set remains. */
  nextDevices(): readonly Owned[] | null {
    return SETS[this.#set + 1] ?? null;
  }

  /** Replaces the people's devices by the next set; the former devices count as stolen. */
  replaceDevices(): void {
    this.#set += 1;
  }

  /** Returns the devices that a thief has: all that were replaced. */
  get stolen(): readonly Owned[] {
    return SETS.slice(0, this.#set).flatMap((set) => set.slice(0, 2));
  }

  nameOf({ userId }: Actor): string {
    return NAMES[PEOPLE.findIndex((one) => one.userId === userId)] ?? 'mallory';
  }

  sign(digest: string, owners: readonly Owned[]): readonly Approval[] {
    return owners.map((one) => this.digests.sign(one, digest));
  }
}

export function digestOf(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}
