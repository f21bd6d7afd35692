/** Never ends while it is loaded. */
for (;;);

export function execute() {}
