/** Throws an error whose getters throw. */
export async function execute(params) {
  throw Object.defineProperties(new Error('x'), {
    message: {
      get() {
        throw 1;
      },
    },
    stack: {
      get() {
        throw 2;
      },
    },
    name: {
      get() {
        throw 3;
      },
    },
    cause: {
      get() {
        throw 4;
      },
    },
  });
}
