/**
 * `cases.json` next to a manifest: test calls of a skill and their expected results. Written by the author of the skill, so
 * it is as untrusted as the skill itself.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { EXIT_CODES, type ErrorCode } from '../vocabulary/error-codes.ts';
import { SkillError } from '../errors.ts';
import { bundlePathProblem } from '../manifest/places.ts';

/** File of test cases in the folder of a skill. */
export const CASES_FILE = 'cases.json';
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_CASES = 500;

/** A test case: parameters, and the expected answer. */
export interface SkillCase {
  name?: string | undefined;
  params: unknown;
  /** The exact result. */
  result?: unknown;
  /** The expected error code. */
  error?: ErrorCode | undefined;
  /** Text that the error message must contain. */
  message?: string | undefined;
  /** Folder in the bundle whose copy is the workspace of the call. */
  workspace?: string | undefined;
  /** Made-up values for declared variables. No other variables are set. */
  env?: Record<string, string> | undefined;
  /** Dotted paths into the result that may differ from call to call. */
  ignore?: string[] | undefined;
  /** Dotted paths to lists whose order does not matter. */
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
          .refine((path) => bundlePathProblem(path) === undefined, 'must be a folder in the bundle')
          .optional(),
        env: z.record(z.string().max(200), z.string().max(4000)).optional(),
        ignore: paths,
        unordered: paths,
      })
      .refine(
        ({ result, error }) => result === undefined || error === undefined,
        'has both a result and an error',
      )
      .refine(
        ({ message, error }) => message === undefined || error !== undefined,
        'has a message without an error',
      ),
  )
  .max(MAX_CASES);

/** Reads the cases; undefined if the file does not exist. Throws `manifest_invalid` if they are invalid. */
export function readCases(file: string): SkillCase[] | undefined {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (!facts?.isFile()) return undefined;
  const parsed = facts.size > MAX_BYTES ? undefined : schema.safeParse(readJson(file));
  if (parsed?.success) return parsed.data;
  const reason = parsed
    ? z.prettifyError(parsed.error).replaceAll('\n', ' ')
    : `the file is larger than ${MAX_BYTES} bytes`;
  throw invalid(file, reason);
}

/** Formats cases as the content of the file. */
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
  return new SkillError('manifest_invalid', `The test cases in "${file}" are invalid: ${reason}`, {
    fix: 'Write a JSON list of cases, as described in docs/authors.md.',
  });
}
