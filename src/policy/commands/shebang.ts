/**
 * Reads the interpreter from the first line of a script.
 *
 * @module
 */

/** Bytes of a file that its first line may take; the kernel reads as many. */
export const SHEBANG_BYTES = 256;

const LINE = /^#!\s*\/(?:usr\/)?(?:local\/)?bin\/([\w.+-]+)[ \t]*([^\r\n]*)/;
/** Interpreters of scripts that a cell has. */
const KNOWN = /^(?:python(?:3(?:\.\d+)?)?|node|bash|sh|dash)$/;

/** The interpreter and its options; undefined for any other first line, or one that is cut. */
export function readShebang(head: string): string[] | undefined {
  if (!/[\r\n]/.test(head.slice(0, SHEBANG_BYTES))) return undefined;
  const [, program = '', rest = ''] = LINE.exec(head) ?? [];
  const words = rest.split(/[ \t]+/).filter(Boolean);
  const [name = '', ...options] =
    program === 'env' ? words.filter((word) => word !== '-S') : [program, ...words];
  return KNOWN.test(name) ? [name, ...options] : undefined;
}
