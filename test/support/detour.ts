/**
 * Redirects the outgoing connections of a process. Import it into that process before anything else
 * (`--import`), with the detours in its environment.
 */

import { Socket } from 'node:net'

/** The variable that holds the detours, in JSON: from host:port to host:port. */
const detoursVariable = 'HEDDLE_TEST_DETOURS'

/** The environment of a process with these detours. */
export function detoured(detours: Readonly<Record<string, string>>): Record<string, string> {
  return {
    [detoursVariable]: JSON.stringify(detours),
    NODE_OPTIONS: `--import=${import.meta.url}`,
  }
}

const detours = JSON.parse(process.env[detoursVariable] ?? '{}') as Record<string, string>

interface Destination {
  host?: string
  port?: number | string
}

if (Object.keys(detours).length > 0) {
  const own = Socket.prototype as unknown as { connect(...args: unknown[]): unknown }
  const { connect } = own
  own.connect = function detoured(this: unknown, ...args: unknown[]) {
    return connect.apply(this, redirected(args))
  }
}

/** The destination is in a list that `net` made, in an object, or given as port and host. */
function redirected(args: readonly unknown[]): unknown[] {
  const [first, second, ...rest] = args
  if (Array.isArray(first)) {
    first[0] = otherDestination(first[0] as Destination)
    return [...args]
  }
  if (typeof first === 'object') return [otherDestination(first as Destination), ...args.slice(1)]
  if (typeof second !== 'string') return [...args]
  const { port, host } = otherDestination({ port: first as number, host: second })
  return [port, host, ...rest]
}

function otherDestination(meant: Destination): Destination {
  const [host, port] = detours[`${meant.host ?? 'localhost'}:${meant.port}`]?.split(':') ?? []
  return host === undefined ? meant : { ...meant, host, port: Number(port) }
}
