/**
 * The folders of agents that hold skills: in the project and above it up to its repository, in the home, and in plugin
 * marketplaces there.
 *
 * @module
 */
import { dirname, join, resolve } from 'node:path';
import { AGENT_FOLDER_NAMES, AGENT_FOLDERS, MARKETPLACES_FOLDER } from '../vocabulary/agent-folders.ts';
import { marketplaceRegistries } from './marketplaces.ts';
import { flatRegistry, isBelow, kindOf, realOrGiven, someNamesIn, type Registry } from './registries.ts';

const MAX_PARENTS = 24;
const MAX_MARKETPLACES = 50;

export interface AgentPlaces {
  cwd: string;
  /** The home of the user whose agents keep skills there; absent: no home is searched. */
  userHome?: string | undefined;
  /** Folders that a person named, each a skill or a folder of skills. */
  folders?: readonly string[] | undefined;
}

/** Existing folders only. */
export function agentRegistries({ cwd, userHome, folders = [] }: AgentPlaces): Registry[] {
  const project = foldersUpToRepository(cwd);
  const root = project.at(-1) ?? cwd;
  return [
    ...folders.flatMap(namedRegistries),
    ...project.flatMap((folder) => agentFoldersIn(folder, { place: 'project', within: root })),
    ...project.flatMap(marketplaceRegistries),
    ...(userHome === undefined ? [] : homeRegistries(userHome)),
  ];
}

/** The folder and those above it up to the root of the repository; only the folder if it is in none. */
export function foldersUpToRepository(folder: string): string[] {
  const folders: string[] = [];
  let at = resolve(folder);
  for (let step = 0; step < MAX_PARENTS; step++) {
    folders.push(at);
    if (kindOf(join(at, '.git')) !== undefined) return folders;
    if (dirname(at) === at) break;
    at = dirname(at);
  }
  return folders.slice(0, 1);
}

function agentFoldersIn(
  folder: string,
  { place, within }: { place: 'project' | 'home'; within: string },
): Registry[] {
  const limit = realOrGiven(within);
  return AGENT_FOLDER_NAMES.map((name) => join(folder, AGENT_FOLDERS[name][place]))
    .filter((path) => kindOf(path) === 'folder' && isBelow(realOrGiven(path), limit))
    .map((path) => ({ folder: path, layout: 'flat', within }));
}

function homeRegistries(home: string): Registry[] {
  const marketplaces = join(home, MARKETPLACES_FOLDER);
  const names = someNamesIn(marketplaces).slice(0, MAX_MARKETPLACES);
  return [
    ...agentFoldersIn(home, { place: 'home', within: home }),
    ...names.flatMap((name) => marketplaceRegistries(join(marketplaces, name))),
  ];
}

function namedRegistries(folder: string): Registry[] {
  const within = foldersUpToRepository(folder).at(-1) ?? folder;
  const flat = flatRegistry(folder, within);
  if (flat.only) return [flat];
  return [flat, { folder, layout: 'categories', within }, ...marketplaceRegistries(folder)];
}
