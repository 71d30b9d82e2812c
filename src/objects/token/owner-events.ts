import * as z from 'zod';
import type { CredentialEvent } from '#domain/activity/account-notification.ts';
import { CREDENTIAL_EVENTS } from '#domain/activity/account-notification.ts';
import { neighbourhoodOf } from '#domain/access/client-address.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import { exactly, logUnreadable } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';

/** An event of a token of which its owner is not notified yet. */
export interface OwnerEvent extends CredentialEvent {
  /** Grows with each event of the token. */
  readonly number: number;
  readonly atMs: number;
}

interface Stored {
  readonly next: number;
  readonly open: readonly OwnerEvent[];
  /** The networks from which the token was used, the newest last. */
  readonly networks: readonly string[];
  /** When the owner was last notified of new networks, the newest last. */
  readonly noticedAtMs: readonly number[];
}

/** The key in the object's storage. It is absent for a token of a release before 0.3.0. */
const KEY = 'ownerEvents';

const ownerEvent = exactly<OwnerEvent>()({
  number: z.int().positive(),
  kind: z.enum(CREDENTIAL_EVENTS),
  address: z.string().nullable(),
  atMs: z.int(),
});

const storedEvents = exactly<Stored>()({
  next: z.int().positive(),
  open: z.array(ownerEvent),
  networks: z.array(z.string()),
  noticedAtMs: z.array(z.int()),
});

const NONE: Stored = { next: 1, open: [], networks: [], noticedAtMs: [] };

/** Ours: the oldest network is forgotten, and its next use is an event again. */
const MAX_NETWORKS = 50;
/** Ours: a phone changes its network, and a thief can choose any. Further ones cause no event. */
const MAX_NEW_NETWORKS_A_DAY = 5;
/** An owner is not notified of an older event: the queue was not consumed for a day. */
const EVENT_MS = DAY_MS;

/**
 * The events of one access token of which its owner is notified, until a consumer has delivered
 * them. They are written in the turn of the change that they report.
 */
export class OwnerEvents {
  readonly #kv: SyncKvStorage;
  #stored: Stored;
  /** Of the last request: most requests of a token have the address of the one before. */
  #lastAddress: string | null = null;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#stored = read(kv);
  }

  /** Returns the open events, the oldest first. */
  open(nowMs: number): readonly OwnerEvent[] {
    return this.#stored.open.filter(({ atMs }) => nowMs - atMs < EVENT_MS);
  }

  add(event: CredentialEvent, nowMs: number): void {
    const { next } = this.#stored;
    const others = this.open(nowMs).filter(({ kind }) => kind !== event.kind);
    this.#put({ ...this.#stored, next: next + 1, open: [...others, { ...event, number: next, atMs: nowMs }] });
  }

  /**
   * Records the network of a request. Reports whether that is an event. The first network is none:
   * the owner was notified of the token.
   */
  observe(address: string | null, nowMs: number): boolean {
    if (address === null || address === this.#lastAddress) return false;
    this.#lastAddress = address;
    const network = neighbourhoodOf(address);
    const { networks, noticedAtMs } = this.#stored;
    if (network === null || networks.includes(network)) return false;
    const noticed = noticedAtMs.filter((atMs) => nowMs - atMs < DAY_MS);
    const isEvent = networks.length > 0 && noticed.length < MAX_NEW_NETWORKS_A_DAY;
    const known = [...networks, network].slice(-MAX_NETWORKS);
    this.#put({ ...this.#stored, networks: known, noticedAtMs: isEvent ? [...noticed, nowMs] : noticed });
    if (isEvent) this.add({ kind: 'token-new-address', address }, nowMs);
    return isEvent;
  }

  /** Removes the events up to a number. Idempotent. */
  complete(number: number): void {
    this.#put({ ...this.#stored, open: this.#stored.open.filter((event) => event.number > number) });
  }

  #put(stored: Stored): void {
    this.#kv.put(KEY, stored);
    this.#stored = stored;
  }
}

/** Unreadable events count as none: the owner still sees the use of the token in the list. */
function read(kv: SyncKvStorage): Stored {
  const stored = kv.get(KEY);
  if (stored === undefined) return NONE;
  const parsed = storedEvents.safeParse(stored);
  if (parsed.success) return parsed.data;
  logUnreadable(new UnreadableState('the stored events of an access token are damaged'), {});
  return NONE;
}
