/**
 * The trace of a caller, which its call continues.
 *
 * @module
 */
import type { Context } from 'hono';
import type { TraceHeaders } from './service.ts';

export function traceOf(c: Context): TraceHeaders | undefined {
  const traceparent = c.req.header('traceparent');
  return traceparent === undefined ? undefined : { traceparent, tracestate: c.req.header('tracestate') };
}
