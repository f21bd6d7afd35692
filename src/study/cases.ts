/**
 * `cases.json` beside a manifest: calls of a skill and what they give. Written by the author of the skill, and so as little
 * trusted as the skill itself.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { EXIT_CODES, SkillError, type ErrorCode } from '../errors.ts';
import { bundlePathProblem } from '../manifest/places.ts';

export const CASES_FILE = 'cases.json';
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_CASES = 500;

export interface SkillCase {
  name?: string | undefined;
  params: unknown;
  /** What the call gives, exactly. */
  result?: unknown;
  /** The code that the call fails with. */
  error?: ErrorCode | undefined;
  /** A part of the text of the error. */
  message?: string | undefined;
  /** Folder of the bundle; a copy of it is the workspace of the call. */
  workspace?: string | undefined;
  /** Values of declared variables, invented ones. Nothing else of the environment is there. */
  env?: Record<string, string> | undefined;
  /** Dotted paths into the result that may differ from call to call. */
  ignore?: string[] | undefined;
  /** Dotted paths to lists whose order means nothing. */
  unordered?: string[] | undefined;
}

const codes = Object.keys(EXIT_CODES) as ErrorCode[];
const paths = z.array(z.string().min(1).max(200)).max(50).optional();
const schema: z.ZodType<SkillCase[]> = z
  .array(
    z
      .strictObject({
        name: z.string().max(200).optional(),
        params: z.unknown(),
        result: z.unknown().optional(),
        error: z.enum(codes).optional(),
        message: z.string().max(2000).optional(),
        workspace: z
          .string()
          .refine((path) => bundlePathProblem(path) === undefined, 'has to be a folder of the bundle')
          .optional(),
        env: z.record(z.string().max(200), z.string().max(4000)).optional(),
        ignore: paths,
        unordered: paths,
      })
      .refine(({ result, error }) => result === undefined || error === undefined, 'has a result and an error')
      .refine(
        ({ message, error }) => message === undefined || error !== undefined,
        'has a message without an error',
      ),
  )
  .max(MAX_CASES);

/** The cases in this file; undefined when there is none. Throws `manifest_invalid` when they cannot be read. */
export function readCases(file: string): SkillCase[] | undefined {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (!facts?.isFile()) return undefined;
  const parsed = facts.size > MAX_BYTES ? undefined : schema.safeParse(readJson(file));
  if (parsed?.success) return parsed.data;
  const reason = parsed
    ? z.prettifyError(parsed.error).replaceAll('\n', ' ')
    : `it is over ${MAX_BYTES} bytes`;
  throw invalid(file, reason);
}

/** The cases as this file has them. */
export function formatCases(cases: readonly SkillCase[]): string {
  return `[\n${cases.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw invalid(file, error instanceof Error ? error.message : String(error));
  }
}

function invalid(file: string, reason: string): SkillError {
  return new SkillError('manifest_invalid', `The cases in "${file}" cannot be read: ${reason}`, {
    fix: 'Write a JSON list of cases as docs/authors.md describes it.',
  });
}
