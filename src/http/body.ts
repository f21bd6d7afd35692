/**
 * Reads the JSON body of a request. A body that is too large is rejected while it is being read, not afterwards.
 *
 * @module
 */
import { MAX_JSON_HERE, type Runtime, SkillError, parseExact } from '../inside.ts';
import { Refusal } from './answers.ts';

/** How large bodies are read. */
export interface LargeBodies {
  read: Runtime['readMessage'];
  /** The tenant; worker threads serve tenants in turn. */
  owner: string;
}

export interface BodyOptions extends LargeBodies {
  maxBytes: number;
}

/** The body as a value. In a large one, `params` stays unparsed text. */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // Browsers send cross-origin JSON only after a preflight request, which this service never allows.
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new Refusal(415, {
      code: 'usage',
      message: `The content type of the body is ${JSON.stringify(type.slice(0, 100))}, not JSON`,
      fix: 'Send the header "Content-Type: application/json".',
    });
  const bytes = await readBytes(request, options.maxBytes);
  if (bytes.length > MAX_JSON_HERE) return readInWorker(bytes, request.signal, options);
  const text = bytes.toString('utf8');
  if (text.trim() === '') return {};
  try {
    return parseExact(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw notJson(`The body is not valid JSON: ${reason}`);
  }
}

async function readInWorker(
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
  const length = request.headers.get('content-length');
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // Node reads exactly as many bytes, and refuses a request that also has `Transfer-Encoding`.
  if (length !== null) return Buffer.from(await request.arrayBuffer());
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
  return new Refusal(400, { code: 'usage', message, fix: 'Send JSON, such as {"params": {}}.' });
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, {
    code: 'usage',
    message: `The body is larger than ${maxBytes} bytes`,
    fix: 'Send less, or ask the operator to raise --max-body.',
    detail: { max_bytes: maxBytes },
  });
}
