/** The graph processes of a server, as Linux lists them. */

import { readdirSync, readFileSync } from 'node:fs'

/** Ids of the graph processes that a server has started, in ascending order. */
export function graphProcesses(server: { readonly pid: number | undefined }): number[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isGraphProcess(pid, server))
    .map(Number).toSorted((one, other) => one - other)
}

function isGraphProcess(pid: string, server: { readonly pid: number | undefined }): boolean {
  try {
    const parent = / (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')')[1]!)![1]
    return parent === String(server.pid)
      && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('process-entry')
  } catch {
    return false
  }
}
