/** Spins in a comparison of proxies. */
export async function execute(params) {
  const odd = {
    [Symbol.toPrimitive]: () => {
      for (;;);
    },
  };
  return { succeeded: odd > 1 };
}
