/** Loops forever. */
export async function execute(params) {
  for (;;);
}
