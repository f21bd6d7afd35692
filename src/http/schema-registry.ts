/**
 * Registry of the schemas of requests and answers.
 *
 * @module
 */
import { z } from 'zod';

type Registry = ReturnType<typeof z.registry<{ id: string }>>;

/** Schemas named in the document. Not Zod's global registry, because other code may register names there. */
export const API_SCHEMAS: Registry = z.registry<{ id: string }>();
