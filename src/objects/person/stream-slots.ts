import * as z from 'zod';
import type { TokenId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import { exactly, logUnreadable, parsed } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';

/**
 * The streams of events that a person may have open at the same time. Ours. A browser opens six
 * connections to a server with HTTP/1.1, and some must be left for requests.
 */
export const MAX_STREAMS = { session: 4, person: 20 } as const;
/** A stream ends after this time. The browser connects again. */
export const STREAM_MS = 10 * 60 * 1000;
/** A stream that did not report its end holds its slot until this long after its last moment. */
const GRACE_MS = 30_000;

interface Slot {
  readonly streamId: string;
  readonly sessionId: TokenId;
  readonly untilMs: number;
}

/** The key in the object's storage. It is absent while no stream is open. */
const KEY = 'streams';

const storedSlots = z.array(
  exactly<Slot>()({ streamId: z.string(), sessionId: parsed(parseTokenId), untilMs: z.int() }),
);

/**
 * The open streams of one person. They are stored, because the object loses its memory after ten
 * idle seconds, and a stream is idle for longer.
 */
export class StreamSlots {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Takes a slot. Returns false when the session or the person has no free one. Idempotent. */
  take({ streamId, sessionId }: Pick<Slot, 'streamId' | 'sessionId'>, nowMs: number): boolean {
    const open = this.#open(nowMs).filter((slot) => slot.streamId !== streamId);
    const ofSession = open.filter((slot) => slot.sessionId === sessionId);
    if (ofSession.length >= MAX_STREAMS.session || open.length >= MAX_STREAMS.person) return false;
    this.#put([...open, { streamId, sessionId, untilMs: nowMs + STREAM_MS + GRACE_MS }]);
    return true;
  }

  /** Frees the slot of a stream. Idempotent. */
  free(streamId: string, nowMs: number): void {
    this.#put(this.#open(nowMs).filter((slot) => slot.streamId !== streamId));
  }

  #open(nowMs: number): readonly Slot[] {
    const stored = this.#kv.get(KEY);
    if (stored === undefined) return [];
    const read = storedSlots.safeParse(stored);
    // Unreadable slots count as none: they bound the work of the service, and protect no money.
    if (!read.success) logUnreadable(new UnreadableState('the stored streams of a person are damaged'), {});
    return (read.data ?? []).filter(({ untilMs }) => untilMs > nowMs);
  }

  #put(slots: readonly Slot[]): void {
    if (slots.length === 0) this.#kv.delete(KEY);
    else this.#kv.put(KEY, slots);
  }
}
