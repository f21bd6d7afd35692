/**
 * What the schemas of requests and answers share.
 *
 * @module
 */
import { z } from 'zod';
import { EXIT_CODES, type ErrorCode } from '../index.ts';

type Registry = ReturnType<typeof z.registry<{ id: string }>>;

/** Schemas that the document names; a registry of our own, because others name theirs in the common one. */
export const API_SCHEMAS: Registry = z.registry<{ id: string }>();

export const CODES: readonly [ErrorCode, ...ErrorCode[]] = Object.keys(EXIT_CODES) as [
  ErrorCode,
  ...ErrorCode[],
];
