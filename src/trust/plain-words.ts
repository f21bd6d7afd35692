/**
 * Describes what a skill asks for in sentences that a person can decide on, most dangerous first.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { imageOf, PACKAGE_ENGINES } from '../load/pins.ts';
import type { EnvRule, FilesystemRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import { quote } from '../manifest/quote.ts';
import { formatDuration, formatSize } from '../manifest/units.ts';
import { RISKS, type Risk } from '../vocabulary/risks.ts';

export interface Sentence {
  risk: Risk;
  text: string;
}

/** One sentence per capability, riskiest first; also one for a skill that asks for nothing. */
export function describeCapabilities(manifest: Manifest): Sentence[] {
  const { filesystem, network, programs = [], skills = [] } = manifest.capabilities;
  const sentences = [
    ...aboutIsolation(manifest),
    ...Object.entries(manifest.env).map(([name, rule]) => aboutVariable(name, rule)),
    ...network.map(aboutHost),
    ...filesystem.map(aboutPath),
    ...programs.map(aboutProgram),
    ...skills.map(aboutSkills),
    ...aboutProcesses(manifest),
    ...aboutContainer(manifest),
  ];
  if (sentences.length === 0)
    sentences.push({ risk: 'low', text: 'It cannot access your files, the network or your variables.' });
  sentences.push(aboutLimits(manifest));
  return sentences.toSorted(byRisk);
}

function byRisk(a: Sentence, b: Sentence): number {
  return RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk);
}

/** The same, plus the image and the packages that the skill would use on this machine. */
export function describeSkill(bundle: Pick<Bundle, 'manifest' | 'image' | 'pins'>): Sentence[] {
  const pinned = [...aboutImage(imageOf(bundle)), ...aboutPackages(bundle)];
  return [...describeCapabilities(bundle.manifest), ...pinned].toSorted(byRisk);
}

function aboutImage(image: string | undefined): Sentence[] {
  return image === undefined ? [] : [{ risk: 'medium', text: `Its image here is ${image}.` }];
}

function aboutPackages({ pins }: Pick<Bundle, 'pins'>): Sentence[] {
  return PACKAGE_ENGINES.flatMap((engine) => {
    const found = pins?.packages?.[engine];
    if (!found) return [];
    const names = found.packages.map(({ name, version }) => `${name} ${version}`).join(', ');
    return [{ risk: 'medium', text: `It runs code from these packages (${engine}): ${names}.` }];
  });
}

function aboutIsolation({ execution }: Manifest): Sentence[] {
  if (!execution.includes('in_process')) return [];
  const text =
    'It may ask to run without any isolation, with access to everything that you can access; that also needs --trust-remote-code.';
  return [{ risk: 'high', text }];
}

function aboutVariable(name: string, { secret, hosts, required }: EnvRule): Sentence {
  const need = required ? 'needs' : 'can use';
  if (!secret)
    return { risk: 'medium', text: `It ${need} the value of your environment variable ${quote(name)}.` };
  const places = hosts.map(quoteHost).join(' and ');
  const text = `It ${need} your secret ${quote(name)}: it never sees the value, but can have it sent to ${places || 'no host at all'}.`;
  return { risk: 'high', text };
}

function aboutHost({ host, port, scheme, methods, paths }: NetworkRule): Sentence {
  const where = `${scheme ?? 'https'}://${host}${port === undefined ? '' : `:${port}`}`;
  const isWide = host.startsWith('*.');
  const how = [
    methods === undefined ? 'with any method' : `with ${methods.join(', ') || 'no method'}`,
    paths === undefined ? '' : `, paths ${paths.map(quote).join(', ')} only`,
  ].join('');
  const what = isWide ? ', which is every host below that name,' : '';
  const text = `It can send what it is given to ${quoteHost(where)}${what} ${how}.`;
  return { risk: isWide || methods === undefined || methods.some(isWrite) ? 'high' : 'medium', text };
}

/** Not shortened, because the last labels decide who owns a host. Hosts in manifests are plain ASCII. */
function quoteHost(host: string): string {
  return JSON.stringify(host);
}

function isWrite(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

function aboutPath({ path, access, maxBytes }: FilesystemRule): Sentence {
  const isOwn = !path.startsWith('/') && !path.startsWith('${');
  if (isOwn) return { risk: 'low', text: `It reads ${quote(path)} in its own folder.` };
  if (access === 'read') return { risk: 'medium', text: `It can read everything in ${quote(path)}.` };
  const most = maxBytes === undefined ? '' : `, and add up to ${formatSize(maxBytes)}`;
  return { risk: 'high', text: `It can read, change and delete everything in ${quote(path)}${most}.` };
}

function aboutProgram(name: string): Sentence {
  return {
    risk: 'medium',
    text: `Its commands can start the program ${quote(name)} of this machine, inside its cell.`,
  };
}

function aboutSkills(pattern: string): Sentence {
  const which = pattern.includes('*') ? `every skill that matches ${quote(pattern)}` : quote(pattern);
  const text = `It can call ${which}, with that skill's own permissions, and pass on what it is given.`;
  return { risk: 'medium', text };
}

function aboutProcesses({ limits }: Manifest): Sentence[] {
  if (!limits.processes) return [];
  const text = `It can start programs inside its cell, up to ${limits.processes} at once.`;
  return [{ risk: 'medium', text }];
}

function aboutContainer({ container }: Manifest): Sentence[] {
  const source = container?.image ?? container?.dockerfile;
  if (source === undefined) return [];
  const built = container?.buildNetwork ? ' Building it uses the network.' : '';
  return [{ risk: 'medium', text: `It brings its own userland: ${quote(source)}.${built}` }];
}

function aboutLimits({ limits }: Manifest): Sentence {
  const parts = [
    ...(limits.timeout === undefined ? [] : [`${formatDuration(limits.timeout)} per call`]),
    ...(limits.memory === undefined ? [] : [`${formatSize(limits.memory)} of memory`]),
  ];
  const text =
    parts.length === 0
      ? 'It has the default limits of time and memory.'
      : `It asks for up to ${parts.join(' and ')}.`;
  return { risk: 'low', text };
}
