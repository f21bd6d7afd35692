/**
 * Names of skills as properties, the same in every cell that runs JavaScript: `skills.text.word_stats({ … })` or
 * `skills['text/word_stats']({ … })`, and `functions.now({ … })`.
 *
 * @module
 */

/** A promise or a serializer looks for these on any object; a skill with such a name is called with its full name. */
const NOT_NAMES: ReadonlySet<string> = new Set(['then', 'toJSON']);

export type Call = (params?: unknown) => Promise<unknown>;

export interface Refused {
  code: string;
  message: string;
  fix: string;
}

/** A call that was refused or failed. */
export class SkillCallError extends Error {
  readonly code: string;
  readonly fix: string;

  constructor({ code, message, fix }: Refused) {
    super(message);
    this.code = code;
    this.fix = fix;
  }

  override get name(): string {
    return 'SkillCallError';
  }
}

export interface Named {
  functions: Record<string, Call>;
  skills: Record<string, Call | Record<string, Call>>;
}

export function namesFor(call: (name: string, params: unknown) => Promise<unknown>): Named {
  const callOf = (name: string): Call => {
    return (params) => call(name, params);
  };
  return {
    functions: byName(callOf),
    skills: byName((name) =>
      name.includes('/')
        ? callOf(name)
        : // Called itself, it is an Agent Skills folder: those have a name without a category.
          byName((inner) => callOf(`${name}/${inner}`), callOf(`skills/${name}`)),
    ),
  };
}

function byName<T, Target extends object>(
  make: (name: string) => T,
  target: Target = Object.create(null) as Target,
): Target & Record<string, T> {
  return new Proxy(target as Target & Record<string, T>, {
    get: (_, name) => (typeof name === 'string' && !NOT_NAMES.has(name) ? make(name) : undefined),
  });
}
