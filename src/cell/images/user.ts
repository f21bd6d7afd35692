/**
 * The numeric user that the programs of an image run as; never root. Names are looked up in the image's own files, which
 * are untrusted: even a harmless name may map to root.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { ContainerRule } from '../../manifest/manifest.ts';
import { quote } from '../../manifest/quote.ts';
import type { ResolvedImage } from './contract.ts';
import { readInside } from './inside.ts';

export interface ImageUser {
  uid: number;
  gid: number;
}

const NOBODY: ImageUser = { uid: 65_534, gid: 65_534 };
const MAX_ID = 4_294_967_294;

/** The user of the manifest, otherwise the image's user unless it is root, otherwise nobody. */
export async function imageUser(image: ResolvedImage, rule: ContainerRule): Promise<ImageUser> {
  if (rule.user !== undefined) {
    const user = await lookUp(image, rule.user);
    if (user && user.uid > 0 && user.gid > 0) return user;
    throw refusedUser(rule.user, user);
  }
  const own = image.config.user === '' ? undefined : await lookUp(image, image.config.user);
  return own && own.uid > 0 && own.gid > 0 ? own : NOBODY;
}

async function lookUp(image: ResolvedImage, text: string): Promise<ImageUser | undefined> {
  const [user = '', group] = text.split(':');
  const isNumber = isId(user);
  const known = await entry(image, 'etc/passwd', isNumber ? { at: 2, value: user } : { at: 0, value: user });
  const uid = isNumber ? Number(user) : Number(known?.[2] ?? Number.NaN);
  const gid = group === undefined ? Number(known?.[3] ?? NOBODY.gid) : await groupId(image, group);
  return isId(String(uid)) && isId(String(gid)) ? { uid, gid } : undefined;
}

async function groupId(image: ResolvedImage, group: string): Promise<number> {
  if (isId(group)) return Number(group);
  return Number((await entry(image, 'etc/group', { at: 0, value: group }))?.[2] ?? Number.NaN);
}

async function entry(
  image: ResolvedImage,
  file: string,
  wanted: { at: number; value: string },
): Promise<string[] | undefined> {
  const text = await readInside(await image.rootfs(), file);
  const lines = text?.split('\n').map((line) => line.split(':'));
  return lines?.find((fields) => fields[wanted.at] === wanted.value);
}

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID;
}

function refusedUser(name: string, found: ImageUser | undefined): SkillError {
  const why = found
    ? `is ${found.uid}:${found.gid} in the image, which is root`
    : 'does not exist in the image';
  return new SkillError('unenforceable', `The user ${quote(name)} of the container ${why}`, {
    fix: 'Set "container.user" to another user, as numbers such as "1000:1000", or remove it.',
    detail: { user: name, ...found },
  });
}
