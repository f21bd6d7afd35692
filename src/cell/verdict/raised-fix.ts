/**
 * The fix for an error that the skill raised: the line, or the package that is missing.
 *
 * @module
 */
import { addTo, flowList, setIn } from '../../manifest/edit-sentences.ts';
import { quote, shellWord } from '../../manifest/quote.ts';
import { NO_WORKSPACE, type Grant } from '../../policy/grant.ts';
import { manifestChange, manifestFile, type Situation } from './situation.ts';

/** The line of the skill that raised: the last one in a trace of Python, the first one in a trace of JavaScript. */
export function placeIn(trace: string): string | undefined {
  const python = [...trace.matchAll(/File "\/skill\/([\w./-]+)", line (\d+)/g)].at(-1);
  const [, file, line] = python ?? /\/skill\/([\w./-]+):(\d+)/.exec(trace) ?? [];
  return file === undefined ? undefined : `${file}:${line}`;
}

/** Undefined unless the error is about a package that the cell does not have. */
export function missingPackage(message: string, situation: Situation): string | undefined {
  const dir = shellWord(situation.dir || 'PATH');
  const [, npm] =
    /[Pp]ackage ["']([\w@./-]+)["'] (?:is not part of the bundle|imported from)/.exec(message) ?? [];
  if (npm !== undefined)
    return `List ${quote(npm)} under "dependencies" in a package.json beside the source, then run \`skillcell build ${dir}\`, which puts it into the bundle.`;
  const [, python] = /^No module named '([\w.]+)'/.exec(message) ?? [];
  if (python === undefined) return undefined;
  const name = python.split('.')[0] ?? python;
  return `${addTo('requirements', manifestFile(situation), JSON.stringify(name))} Then run \`skillcell install ${dir}\`. The package may have another name than the module.`;
}

/** Undefined unless the error is about a module of Node, which only cells with Node have. */
export function missingModule(message: string, situation: Situation): string | undefined {
  if (!/^Node modules such as .* are not available in this cell/.test(message)) return undefined;
  const edit = setIn('execution', manifestFile(situation), flowList(['subprocess']));
  return `Do without it, or run the skill on Node: ${manifestChange(situation, [edit])}`;
}

/** A skill whose workspace is missing may fail in any way, so this comes before the usual advice. */
export function missingWorkspace({ withheld }: Grant): string {
  const isMissing = withheld.some(({ reason }) => reason === NO_WORKSPACE);
  return isMissing
    ? 'Pass --workspace DIR (library: workspace), which the skill declares. If that does not help: '
    : '';
}
