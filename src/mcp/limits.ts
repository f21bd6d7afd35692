/**
 * Size limits for messages.
 *
 * @module
 */

/** Maximum size of a result: it is serialized on the thread that serves all clients, and no model reads more. */
export const MAX_RESULT_BYTES: number = 1024 * 1024;

/** Maximum size of a message on standard input, including the parameters of a call. */
export const MAX_MESSAGE_BYTES: number = 10 * 1024 * 1024;

/** Maximum size over HTTP, where one thread reads the messages of many clients; the same as in the HTTP service. */
export const MAX_HTTP_MESSAGE_BYTES: number = 1024 * 1024;
