/** Returns an object that grows while it is read. */
export async function execute(params) {
  const grow = () => Object.defineProperty({}, 'more', { enumerable: true, get: grow });
  return grow();
}
