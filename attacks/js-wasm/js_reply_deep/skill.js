/** Answers with JSON of a hundred thousand levels. */
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
  hijack((reply) => reply('['.repeat(100_000) + ']'.repeat(100_000)));
  return { succeeded: false };
}
