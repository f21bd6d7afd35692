/** Waits for ever while it is loaded. */
await new Promise(() => {});

export function execute() {}
