/**
 * `skillcell/mcp`: skills of a runtime as tools of the Model Context Protocol.
 *
 * @module
 */
export { SkillServer } from './skill-server.ts';
export type { SkillServerOptions } from './skill-server.ts';
export { serveOverStdio } from './stdio.ts';
export type { StdioOptions } from './stdio.ts';
export { serveOverHttp } from './http/serve-http.ts';
export type { HttpOptions, HttpService } from './http/serve-http.ts';
