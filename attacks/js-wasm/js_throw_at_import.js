/** Fails while it is being loaded. */
console.log('attack reached');
throw new Error('hostile');

export function execute() {}
