/**
 * A route as data: path, scopes, schemas and handler. The service and its OpenAPI document are generated from the same list.
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
  /** A path parameter by name. */
  param: (name: string) => string;
  c: Context;
}

export interface Route {
  method: 'get' | 'post' | 'put' | 'delete';
  /** In OpenAPI syntax. `{name}` is the id of a skill and may contain a slash. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** One of them is enough; `open` needs no token. */
  scopes: readonly Scope[] | 'open';
  query?: z.ZodType;
  body?: z.ZodType;
  /** Content types of a body that the handler reads itself. */
  rawBody?: readonly string[];
  /** A schema for JSON, or other content types. */
  answers: Partial<Record<Status, z.ZodType | string | readonly string[]>>;
  handle: (request: RouteRequest<never, never>) => Response | Promise<Response>;
}

interface TypedRoute<Query, Body> extends Omit<
  Route,
  'method' | 'path' | 'tag' | 'query' | 'body' | 'handle'
> {
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  handle: (request: RouteRequest<Query, Body>) => Response | Promise<Response>;
}

type On = `${Route['method']} /${string}`;

/** Makes the routes of one tag, and ties the types of a handler to the schemas of its route. */
export function routesOf(tag: string): <Query, Body>(on: On, definition: TypedRoute<Query, Body>) => Route {
  return (on, definition) => {
    const [method, path] = on.split(' ') as [Route['method'], string];
    return { method, path, tag, ...definition };
  };
}
