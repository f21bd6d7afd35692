/**
 * A route as data: what it is called, who may use it, what it takes and gives. The service and its OpenAPI document are
 * made from the same list.
 *
 * @module
 */
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Identity } from './access.ts';
import type { Scope } from './access-file.ts';
import type { Service } from './service.ts';
import type { Status } from './status.ts';

export interface RouteRequest<Query, Body> {
  service: Service;
  identity: Identity;
  query: Query;
  body: Body;
  /** A part of the path by its name. */
  param: (name: string) => string;
  c: Context;
}

export interface Route {
  method: 'get' | 'post' | 'put' | 'delete';
  /** As OpenAPI writes it. `{name}` is the id of a skill and may hold a slash. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** One of them is enough; `open`: nobody is asked who they are. */
  scopes: readonly Scope[] | 'open';
  query?: z.ZodType;
  body?: z.ZodType;
  /** JSON by schema, or another type of content. */
  answers: Partial<Record<Status, z.ZodType | string>>;
  handle: (request: RouteRequest<never, never>) => Response | Promise<Response>;
}

interface TypedRoute<Query, Body> extends Omit<Route, 'query' | 'body' | 'handle'> {
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  handle: (request: RouteRequest<Query, Body>) => Response | Promise<Response>;
}

/** Ties the types of a route's handler to its schemas. */
export function route<Query, Body>(definition: TypedRoute<Query, Body>): Route {
  return definition;
}
