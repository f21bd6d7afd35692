/**
 * What a client may send at once.
 *
 * @module
 */

/** What the parameters of a call may be, and the rest of the message. */
export const MAX_MESSAGE_BYTES: number = 10 * 1024 * 1024;
