/** Makes buffers of the host into its own objects. */
export async function execute(params) {
  const seen = [];
  class Own extends Uint8Array {
    constructor(...args) {
      super(...args);
      seen.push(this.buffer.byteLength);
    }
  }
  Object.defineProperty(Uint8Array, Symbol.species, { get: () => Own });
  const { set } = Uint8Array.prototype;
  Uint8Array.prototype.set = function (from, at) {
    seen.push(from.buffer.byteLength);
    return set.call(this, from, at);
  };
  crypto.getRandomValues(new Uint8Array(16));
  const bytes = new TextEncoder().encode('abc').subarray(0, 2);
  return {
    succeeded: seen.some((length) => length > 8192) || bytes.buffer.byteLength > 8192,
    evidence: seen.join(),
  };
}
