/**
 * The body of a request: JSON, and no more of it than is allowed. It is refused while it is read, not after.
 *
 * @module
 */
import { Refusal } from './answers.ts';

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // A browser sends no JSON to another origin without asking, which nobody here answers.
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new Refusal(415, {
      code: 'usage',
      message: `The body is ${JSON.stringify(type.slice(0, 100))}, and not JSON`,
      fix: 'Send Content-Type: application/json.',
    });
  const text = await readText(request, maxBytes);
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(400, {
      code: 'usage',
      message: `The body is no JSON: ${reason}`,
      fix: 'Send JSON, e.g. {"params": {}}.',
    });
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, {
    code: 'usage',
    message: `The body has more than ${maxBytes} bytes`,
    fix: 'Send less, or have the operator raise --max-body.',
    detail: { max_bytes: maxBytes },
  });
}
