/**
 * Reads the JSON of a server: capped in size by the client, checked by a schema here.
 *
 * @module
 */
import { z } from 'zod';
import { shortLine } from '../../manifest/quote.ts';
import { badAnswer } from './problems.ts';

export function readJsonAnswer<T>(body: Buffer, schema: z.ZodType<T>, what: string): T {
  const parsed = schema.safeParse(parseJson(body, what));
  if (parsed.success) return parsed.data;
  throw badAnswer(what, shortLine(z.prettifyError(parsed.error).replaceAll('\n', ' ')));
}

function parseJson(body: Buffer, what: string): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw badAnswer(what, text.trimStart().startsWith('<') ? 'it is a web page' : 'it is not valid JSON');
  }
}
