/**
 * `skillcell config show`
 *
 * @module
 */
import { CONFIG_KEYS, catalogsOf, readConfig, userFile, withConfig, type Config } from '../config.ts';
import { printLine, printResult, table } from '../output.ts';

/** Each value in force, and the file that it comes from. */
export function configShow({ json }: { json?: boolean }): number {
  const config = readConfig();
  const { user, project } = config;
  const flags = new Map<string, string | boolean>(Object.entries(withConfig({}, config)));
  const catalogs = catalogsOf(config).join(', ');
  if (catalogs !== '') flags.set('catalogs', catalogs);
  const settings = Object.keys(CONFIG_KEYS).flatMap((key) => {
    const value = flags.get(key === 'keep_content' ? 'keepContent' : key);
    return value === undefined ? [] : [{ key, value, from: sourceOf(key, value, config) }];
  });
  if (json) printResult({ user: user?.file ?? null, project: project?.file ?? null, settings });
  else {
    printLine(`user      ${user?.file ?? `none (${userFile()})`}`);
    printLine(`project   ${project?.file ?? 'none'}`);
    if (settings.length > 0)
      printLine(table(settings.map(({ key, value, from }) => [key, String(value), from])));
  }
  return 0;
}

function sourceOf(key: string, value: string | boolean, { user, project }: Config): string {
  const fromProject = project && new Map<string, unknown>(Object.entries(project.values)).get(key);
  return (project && fromProject === value ? project.file : user?.file) ?? '';
}
