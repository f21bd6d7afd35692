/**
 * The programs that a shell script starts, without the shell's own words and the functions of the script.
 *
 * @module
 */

const OWN_WORDS: ReadonlySet<string> = new Set(
  `if then elif else fi for while until do done case esac in function select time coproc return exit break continue
   cd echo printf read set unset export local declare typeset readonly shift test true false trap wait exec eval source
   command builtin type hash alias unalias ulimit umask getopts let pushd popd dirs jobs bg fg kill shopt mapfile
   readarray enable help history logout times caller : . [ [[ ]] ]`.split(/\s+/),
);
const FUNCTION = /^\s{0,40}(?:function\s{1,10}([\w-]{1,60})|([\w-]{1,60})\s{0,10}\(\))/;
const HERE_DOCUMENT = /<<-?\s{0,5}["']?([A-Za-z_]\w{0,40})/;
const PROGRAM = /^[A-Za-z_][\w.+-]{0,60}$/;

export interface StartedProgram {
  program: string;
  /** 1-based line of its first use. */
  line: number;
}

/** Each program once. `commandsIn` splits a line into the programs that it starts. */
export function shellPrograms(
  lines: readonly string[],
  commandsIn: (line: string) => string[],
): StartedProgram[] {
  const functions = new Set(
    lines.map((line) => FUNCTION.exec(line)).map((hit) => hit?.[1] ?? hit?.[2] ?? ''),
  );
  const first = new Map<string, number>();
  let endOfHere: string | undefined;
  lines.forEach((whole, index) => {
    if (endOfHere !== undefined) {
      if (whole.trim() === endOfHere) endOfHere = undefined;
      return;
    }
    const line = whole.slice(0, 2000).replace(/(?:^|\s)#.*$/, '');
    endOfHere = HERE_DOCUMENT.exec(line)?.[1];
    // Text in quotes is an argument; a program in it would be found by the search for network programs.
    for (const program of commandsIn(line.replaceAll(/"[^"]*"|'[^']*'/g, '""'))) {
      if (PROGRAM.test(program) && !OWN_WORDS.has(program) && !functions.has(program) && !first.has(program))
        first.set(program, index + 1);
    }
  });
  return [...first].map(([program, line]) => ({ program, line }));
}
