/** Waits forever while it is being loaded. */
console.log('attack reached');
await new Promise(() => {});

export function execute() {}
