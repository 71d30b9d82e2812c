/** The approval page returned no signature. The message is for the person. */
export class NotSigned extends Error {}
