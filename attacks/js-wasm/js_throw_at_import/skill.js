/** Fails while it is loaded. */
throw new Error('hostile');

export function execute() {}
