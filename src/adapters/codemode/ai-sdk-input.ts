/**
 * Checks the input of an AI SDK tool with the schema of that tool, in each of the forms that the AI SDK accepts.
 *
 * @module
 */

interface Validated {
  success: boolean;
  value?: unknown;
  error?: unknown;
}

interface Standard {
  value?: unknown;
  issues?: readonly { message: string }[];
}

/** Returns the input as the schema gives it, with defaults. Throws if it does not fit. */
export async function validInput(tool: string, schema: unknown, input: unknown): Promise<unknown> {
  // A schema may be given as a function, so that it is built on first use.
  const built: unknown =
    typeof schema === 'function' && !('~standard' in schema) ? (schema as () => unknown)() : schema;
  const { '~standard': standard, validate } = (built ?? {}) as {
    '~standard'?: { validate: (value: unknown) => Standard | Promise<Standard> };
    validate?: ((value: unknown) => Validated | Promise<Validated>) | undefined;
  };
  if (standard) {
    const { issues, value } = await standard.validate(input);
    if (issues) throw invalid(tool, issues.map(({ message }) => message).join('; '));
    return value;
  }
  // `jsonSchema(…)` of the AI SDK checks only if it was given a function for that.
  if (!validate) return input;
  const { success, value, error } = await validate(input);
  if (!success) throw invalid(tool, error instanceof Error ? error.message : String(error));
  return value;
}

function invalid(tool: string, reason: string): Error {
  return new Error(`Invalid input for tool "${tool}": ${reason}`);
}
