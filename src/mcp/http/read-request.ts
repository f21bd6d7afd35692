/**
 * Request bodies: small ones are left to the SDK, large ones are read in a worker thread.
 *
 * @module
 */
import { MAX_JSON_HERE, toSkillError } from '../../inside.ts';
import { LargeArguments } from '../large-arguments.ts';
import { MAX_HTTP_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

export interface LargeRequest {
  parsedBody: unknown;
  large: LargeArguments;
}

/** Returns undefined if the body is small and still unread, or a response if it is rejected. */
export async function readLargeRequest(
  request: Request,
  skills: SkillServer,
): Promise<LargeRequest | Response | undefined> {
  const length = request.headers.get('content-length');
  // Node's HTTP server enforces the declared length.
  if (request.method !== 'POST' || (length !== null && Number(length) <= MAX_JSON_HERE)) return undefined;
  const bytes = await readBytes(request);
  if (!bytes) return refusal(413, SERVER_ERROR, `The message is larger than ${MAX_HTTP_MESSAGE_BYTES} bytes`);
  const large = new LargeArguments();
  try {
    const isLarge = bytes.length > MAX_JSON_HERE;
    const parsedBody = isLarge
      ? await skills.readLarge(bytes, { into: large, signal: request.signal })
      : (JSON.parse(bytes.toString('utf8')) as unknown);
    return { parsedBody, large };
  } catch (error) {
    const { detail, message } = toSkillError(error);
    const isJson = bytes.length > MAX_JSON_HERE && detail['reason'] !== 'not_json';
    if (isJson) return refusal(detail['limit'] === 'busy' ? 503 : 400, INVALID_REQUEST, message);
    return refusal(400, PARSE_ERROR, 'Parse error: Invalid JSON');
  }
}

async function readBytes(request: Request): Promise<Buffer | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_HTTP_MESSAGE_BYTES) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_HTTP_MESSAGE_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}
