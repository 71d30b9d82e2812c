/** The approval page has answered something else, or nothing. The message is for the person. */
export class NotSigned extends Error {}
