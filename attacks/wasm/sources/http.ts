/**
 * Components that send an HTTP request to the URL in their parameters and return the body of the response.
 *
 * @module
 */
import { main } from './skill.ts';

/** `{"url":"` and `"}` around the URL. */
const [URL_START, URL_AROUND] = [8, 10] as const;
const PREFIX = '{\\"evidence\\":\\"';
const PREFIX_BYTES = 13;

interface Header {
  name: string;
  /** As in the text format of WebAssembly. */
  value: string;
  bytes: number;
}

function fetches(method: string, header?: Header): string {
  const headers = header
    ? `(i32.store (i32.const 2048) (i32.const 2100)) (i32.store (i32.const 2052) (i32.const ${header.name.length}))
       (i32.store (i32.const 2056) (i32.const 2200)) (i32.store (i32.const 2060) (i32.const ${header.bytes}))`
    : '';
  const texts = header
    ? `(data (i32.const 2100) "${header.name}") (data (i32.const 2200) "${header.value}")`
    : '';
  return main(
    `${headers}
     (call $fetch (i32.const 1024) (i32.const ${method.length}) (i32.add (local.get $params) (i32.const ${URL_START}))
       (i32.sub (local.get $length) (i32.const ${URL_AROUND})) (i32.const 2048) (i32.const ${header ? 1 : 0}) (i32.const 0) (i32.const 0) (i32.const 1536))
     (if (i32.load8_u (i32.const 1536))
       (then (return (call $answer (i32.const 1) (i32.load (i32.const 1540)) (i32.load (i32.const 1544))))))
     (local.set $n (i32.load (i32.const 1556)))
     (local.set $i (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.add (local.get $n) (i32.const 64))))
     (memory.copy (local.get $i) (i32.const 1100) (i32.const ${PREFIX_BYTES}))
     (memory.copy (i32.add (local.get $i) (i32.const ${PREFIX_BYTES})) (i32.load (i32.const 1552)) (local.get $n))
     (i32.store16 (i32.add (i32.add (local.get $i) (i32.const ${PREFIX_BYTES})) (local.get $n)) (i32.const 0x7d22))
     (call $answer (i32.const 0) (local.get $i) (i32.add (local.get $n) (i32.const ${PREFIX_BYTES + 2})))`,
    {
      uses: ['fetch'],
      extra: `(data (i32.const 1024) "${method}") (data (i32.const 1100) "${PREFIX}") ${texts}`,
    },
  );
}

export const HTTP_PROGRAMS: Readonly<Record<string, string>> = {
  fetch_url: fetches('GET'),
  post_url: fetches('POST'),
  fetch_with_odd_method: fetches('GET / HTTP/1.1'),
  fetch_with_injected_header: fetches('GET', { name: 'X-A', value: 'a\\0d\\0aX-Injected: yes', bytes: 18 }),
  fetch_with_host_header: fetches('GET', { name: 'Host', value: 'internal.example', bytes: 16 }),
  fetch_with_length_header: fetches('GET', { name: 'Transfer-Encoding', value: 'chunked', bytes: 7 }),
};
