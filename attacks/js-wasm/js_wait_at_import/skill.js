/** Waits for ever while it is loaded. */
console.log('attack reached');
await new Promise(() => {});

export function execute() {}
