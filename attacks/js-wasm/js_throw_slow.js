/** Throws an error that takes forever to read. */
export async function execute(params) {
  throw Object.defineProperty(new Error('x'), 'message', {
    get() {
      for (;;);
    },
  });
}
