/**
 * Results are committed, and hosts of registries and of strangers do not belong there.
 *
 * @module
 */
const ADDRESS = /\b(?:https?:\/\/)?(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:\/\S*)?(?=\s|$)/gi;

/** `CONNECT https://host.example/x` becomes `CONNECT a host`; paths stay as they are. */
export function withoutHosts(asked: string): string {
  return /^(?:CONNECT|GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS|connect|resolve|look up)\b/.test(asked)
    ? asked.replace(ADDRESS, 'a host')
    : asked;
}
