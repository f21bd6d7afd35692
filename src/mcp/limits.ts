/**
 * What a client may send at once.
 *
 * @module
 */

/** Twice what the parameters of a call may be: the same in JSON inside JSON, and the rest of the message. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024;
