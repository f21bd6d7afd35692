/**
 * Fetches the keys of an issuer: a bounded answer, no redirects, and a pause after a failure, so that nobody who sends
 * tokens can make this service send requests.
 *
 * @module
 */
import type { FetchImplementation } from 'jose';

export const MAX_KEY_BYTES: number = 256 * 1024;
const PAUSE_MS = 10_000;

export function fetchKeys(now: () => number = () => performance.now()): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (now() - failedAt < PAUSE_MS)
      throw new Error('The last attempt to fetch the keys failed a moment ago');
    try {
      const response = await fetch(url, { ...options, redirect: 'manual' });
      if (response.status !== 200) throw new Error(`The issuer answered with status ${response.status}`);
      const text = await boundedText(response);
      assertKeys(text);
      return new Response(text, { status: 200 });
    } catch (error) {
      failedAt = now();
      throw error;
    }
  };
}

/** Anything else would be fetched again for every token. */
function assertKeys(text: string): void {
  const parsed: unknown = JSON.parse(text);
  const keys = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : undefined;
  if (!Array.isArray(keys)) throw new Error('The answer of the issuer is not a set of keys');
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_KEY_BYTES) throw new Error(`The keys have more than ${MAX_KEY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
