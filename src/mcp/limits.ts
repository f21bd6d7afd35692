/**
 * What a client may send at once.
 *
 * @module
 */

/** What a result may be: the message is written on the thread that serves all clients, and no model reads more. */
export const MAX_RESULT_BYTES: number = 1024 * 1024;

/** What the parameters of a call may be, and the rest of the message. */
export const MAX_MESSAGE_BYTES: number = 10 * 1024 * 1024;

/** The same over HTTP, where one thread reads the messages of many clients: as much as the HTTP service takes. */
export const MAX_HTTP_MESSAGE_BYTES: number = 1024 * 1024;
