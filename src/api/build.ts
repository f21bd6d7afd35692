/**
 * `skillcell/build`: creates a skill from a template, and builds components and images.
 *
 * @module
 */
export { buildSkill, isCompiled } from '../build/build-skill.ts';
export type { BuildOptions, Built } from '../build/build-skill.ts';
export { buildBase } from '../build/container/base-image.ts';
export type { BaseOptions, BuiltBase } from '../build/container/base-image.ts';
export { buildImage } from '../build/container/build-image.ts';
export type { BuiltImage, ImageOptions } from '../build/container/build-image.ts';
export { LANGUAGES, initSkill } from '../build/init-skill.ts';
export type { InitOptions, Language } from '../build/init-skill.ts';
