/** Returns an endless proxy. */
export async function execute(params) {
  const endless = () =>
    new Proxy(
      {},
      {
        ownKeys: () => ['more'],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        get: (_, name) => (name === 'more' ? endless() : undefined),
      },
    );
  return endless();
}
