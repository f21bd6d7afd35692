/**
 * The body of a request: JSON, and no more of it than is allowed. It is refused while it is read, not after.
 *
 * @module
 */
import { MAX_JSON_HERE, SkillError, type Runtime } from '../index.ts';
import { Refusal } from './answers.ts';

/** Who reads large bodies, and for whom. */
export interface LargeBodies {
  read: Runtime['readMessage'];
  /** Tenants are served in turn. */
  owner: string;
}

export interface BodyOptions extends LargeBodies {
  maxBytes: number;
}

/** The body as a value. In a large one `params` is text, which nobody has parsed on this thread. */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // A browser sends no JSON to another origin without asking, which nobody here answers.
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new Refusal(415, {
      code: 'usage',
      message: `The body is ${JSON.stringify(type.slice(0, 100))}, and not JSON`,
      fix: 'Send Content-Type: application/json.',
    });
  const bytes = await readBytes(request, options.maxBytes);
  if (bytes.length > MAX_JSON_HERE) return readElsewhere(bytes, request.signal, options);
  const text = bytes.toString('utf8');
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw notJson(`The body is no JSON: ${reason}`);
  }
}

async function readElsewhere(
  bytes: Buffer,
  signal: AbortSignal,
  { read, owner }: LargeBodies,
): Promise<unknown> {
  try {
    const { message, parts } = await read(bytes, { path: ['params'], owner, signal });
    const [params] = parts;
    return params && !Array.isArray(message) ? Object.assign({}, message, { params }) : message;
  } catch (error) {
    if (error instanceof SkillError && error.detail['reason'] === 'not_json') throw notJson(error.message);
    throw error;
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function notJson(message: string): Refusal {
  return new Refusal(400, { code: 'usage', message, fix: 'Send JSON, e.g. {"params": {}}.' });
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, {
    code: 'usage',
    message: `The body has more than ${maxBytes} bytes`,
    fix: 'Send less, or have the operator raise --max-body.',
    detail: { max_bytes: maxBytes },
  });
}
