/**
 * The service shows one thing and requests approval of another, so the person must not approve. The
 * message says what differs.
 */
export class Contradiction extends Error {}

/** A request cannot be decided (any more). The message is for the person. */
export class Undecidable extends Error {}
