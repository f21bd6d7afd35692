/** Shrinks a buffer after passing it to the host, to read what is after it. */
export async function execute(params) {
  const buffer = new ArrayBuffer(1 << 16, { maxByteLength: 1 << 20 });
  const view = new Uint8Array(buffer, 0, 1 << 16);
  const trap = {
    get fatal() {
      buffer.resize(8);
      return false;
    },
    ignoreBOM: false,
  };
  const text = new TextDecoder('utf-8', trap).decode(view);
  return { succeeded: text.length > 8, evidence: String(text.length) };
}
