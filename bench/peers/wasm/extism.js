/** Extism's JS SDK with a plugin per call, compiled ahead of time. */
import { readFileSync } from 'node:fs';
import { createPlugin } from '@extism/extism';

const bytes = readFileSync(new URL('extism-plugin.wasm', import.meta.url));

export async function startExtism({ runInWorker }) {
  const module = await WebAssembly.compile(bytes);
  return {
    async call(params) {
      const plugin = await createPlugin({ wasm: [{ module }] }, { runInWorker });
      const output = await plugin.call('count_words', params);
      const result = output.text();
      await plugin.close();
      return result;
    },
  };
}
