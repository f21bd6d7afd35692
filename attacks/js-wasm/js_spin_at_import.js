/** Loops forever while it is being loaded. */
console.log('attack reached');
for (;;);

export function execute() {}
