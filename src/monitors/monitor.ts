import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** Returns a header of a delivery by its lower-case name; null when it is absent. */
export type HeaderOf = (name: string) => string | null;

/**
 * Reports whether the monitor sent exactly this body, uncompressed and unchanged: nothing is parsed
 * before its sender is verified. The time for 1 MiB is bounded, because every sender can cause it.
 */
export type BodyCheck = (body: Uint8Array<ArrayBuffer>) => Promise<boolean>;

/** A transaction that may have happened. Only the chain decides whether it did. */
export interface Hint {
  /** CAIP-2. */
  readonly chain: string;
  /** In the chain's spelling. */
  readonly hash: string;
}

/**
 * The content of a delivery. Anything that is not understood gives no hint and never an error: an
 * answer other than 2xx stops the monitor. It is reported to operators in its place.
 */
export interface Report {
  readonly hints: readonly Hint[];
  /**
   * The provider's name of what was not understood, short and printable; null when all of the
   * delivery was. Without hints, null means that nothing has happened.
   */
  readonly unread: string | null;
  /** A message of the monitor about itself that an operator should read; null without one. */
  readonly alarm: string | null;
}

/** One monitoring service: how its deliveries are authenticated and read. */
export interface Monitor {
  /**
   * Checks the headers of a delivery, without its body. Returns the check of the body, or null when
   * no holder of one of the secrets can have sent these headers within the time that the scheme
   * allows. A delivery with such headers is refused before its body is read.
   *
   * @param secrets 1 to 10; a delivery is authentic under each of them
   */
  readonly checkHeaders: (header: HeaderOf, secrets: readonly string[], nowMs: number) => BodyCheck | null;
  /**
   * Header with the monitor's own id of a delivery, which all repetitions share; absent when it has
   * none.
   */
  readonly idHeader?: string;
  readonly read: (body: unknown) => Report;
}

/**
 * The tolerance in either direction for schemes with a time, so that an old delivery cannot be
 * replayed.
 */
const TOLERANCE_MS = 5 * 60 * 1000;

/** Reports whether Unix seconds in a text are within the tolerance; false without a text. */
export function isRecent(seconds: string | null, nowMs: number): boolean {
  return (
    seconds !== null &&
    /^[0-9]{1,12}$/.test(seconds) &&
    Math.abs(Number.parseInt(seconds, 10) * 1000 - nowMs) <= TOLERANCE_MS
  );
}

/** Returns a field of an unknown value. */
export function field(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns the list, or an empty one for any other value. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
