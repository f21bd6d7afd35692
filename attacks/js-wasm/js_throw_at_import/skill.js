/** Fails while it is loaded. */
console.log('attack reached');
throw new Error('hostile');

export function execute() {}
