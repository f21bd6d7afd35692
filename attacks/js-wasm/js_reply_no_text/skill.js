/** Answers with things that are no texts. */
/** Takes the place of the promise that the harness waits for. */
function hijack(act) {
  const { then } = Promise.prototype;
  Promise.prototype.then = function (fulfilled, rejected) {
    Promise.prototype.then = then;
    act(fulfilled, rejected);
    return new Promise(() => {});
  };
}

export function execute() {
  hijack((reply) => {
    for (const odd of [Symbol('x'), {}, null, 1n])
      try {
        reply(odd);
      } catch {}
  });
  return { succeeded: false };
}
