/** Never ends while it is loaded. */
console.log('attack reached');
for (;;);

export function execute() {}
