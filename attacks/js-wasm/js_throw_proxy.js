/** Throws a proxy that throws. */
export async function execute(params) {
  throw new Proxy(
    {},
    {
      get() {
        throw new Error('no');
      },
      getPrototypeOf() {
        throw new Error('no');
      },
    },
  );
}
