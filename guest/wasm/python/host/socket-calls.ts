/**
 * Sockets without a network. A skill may create one; the harness reports the denial when it is used, and code that
 * bypasses the harness gets an error number. HTTP takes another route, through the broker.
 *
 * @module
 */
import { fail, type NodeStat, type OpenNode } from '../files/contract.ts';
import type { Context, ImportFunctions } from './context.ts';
import { ERRNO, syscall } from './errno.ts';

const AF_INET = 2;
const AF_INET6 = 10;
const AF_UNIX = 1;
/** EAI_FAIL: names are not resolved. */
const NOT_RESOLVED = -4;

export function socketCalls(context: Context): ImportFunctions {
  const refuse =
    (errno: number) =>
    (fd: number): number =>
      syscall(() => {
        const { node } = context.process.descriptors.get(fd);
        return node instanceof Socket ? -errno : -ERRNO.NOTSOCK;
      });
  const unreachable = refuse(ERRNO.NETUNREACH);
  const notConnected = refuse(ERRNO.NOTCONN);
  return {
    __syscall_socket: (domain: number) => syscall(() => open(context, domain)),
    __syscall_connect: unreachable,
    __syscall_sendto: unreachable,
    __syscall_sendmsg: unreachable,
    __syscall_bind: refuse(ERRNO.ACCES),
    __syscall_listen: refuse(ERRNO.ACCES),
    __syscall_accept4: refuse(ERRNO.INVAL),
    __syscall_recvfrom: notConnected,
    __syscall_recvmsg: notConnected,
    __syscall_getpeername: notConnected,
    __syscall_getsockname: notConnected,
    __syscall_getsockopt: refuse(ERRNO.INVAL),
    getaddrinfo: () => NOT_RESOLVED,
    getnameinfo: () => NOT_RESOLVED,
    getprotobyname: () => 0,
    // Pyodide's detours for JavaScript sockets: null means that the ordinary call is made.
    _try_fcntl64: () => 0,
    _try_shutdown: () => 0,
    _maybe_poll_async: () => null,
    _maybe_connect_async: () => null,
    _maybe_recvfrom_async: () => null,
    _maybe_sendto_async: () => null,
  };
}

function open({ process }: Context, domain: number): number {
  if (![AF_INET, AF_INET6, AF_UNIX].includes(domain)) return -ERRNO.AFNOSUPPORT;
  return process.descriptors.add({
    node: new Socket(),
    position: 0,
    readable: true,
    writable: true,
    append: false,
    path: [],
  });
}

class Socket implements OpenNode {
  readonly isStream = true;

  stat(): NodeStat {
    return { type: 'device', size: 0, modified: 0, identity: 1n, writable: true };
  }

  read(): number {
    return fail('io');
  }

  write(): number {
    return fail('io');
  }

  resize(): void {
    fail('inval');
  }

  list(): never {
    return fail('notdir');
  }

  close(): void {
    // There is nothing to release.
  }
}
