/**
 * `skillcell completion`: scripts that ask `skillcell __complete` for candidates, so that they never get out of date.
 *
 * @module
 */
import { printFile } from '../output.ts';
import type { Shell } from '../shell-commands.ts';

const BASH = `# skillcell completion for bash: skillcell completion bash >> ~/.bashrc
_skillcell() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word _about IFS=$'\\n'
  COMPREPLY=()
  while IFS=$'\\t' read -r word _about; do
    if [[ "$word" == ":files" ]]; then
      compopt -o filenames 2>/dev/null
      while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    elif [[ -n "$word" ]]; then
      COMPREPLY+=("$word")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _skillcell skillcell
`;

const ZSH = `#compdef skillcell
# skillcell completion for zsh: skillcell completion zsh > a folder of $fpath/_skillcell
_skillcell() {
  local line word about
  local -a found
  local files=0
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then files=1; continue; fi
    word="\${line%%$'\\t'*}"
    about="\${line#*$'\\t'}"
    [[ -n "$word" ]] && found+=("\${word//:/\\\\:}:\${about}")
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe 'skillcell' found
  (( files )) && _files
  return 0
}
if [[ "\${funcstack[1]}" == "_skillcell" ]]; then
  _skillcell
elif (( $+functions[compdef] )); then
  compdef _skillcell skillcell
fi
`;

const FISH = `# skillcell completion for fish: skillcell completion fish > ~/.config/fish/completions/skillcell.fish
function __skillcell_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c skillcell -f -a '(__skillcell_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function completion(shell: Shell): number {
  printFile(SCRIPTS[shell]);
  return 0;
}
