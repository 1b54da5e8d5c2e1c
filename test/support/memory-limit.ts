/**
 * A limit on the memory of a process under test: a memory cgroup where one can be made, otherwise
 * a watch that kills the process once it has more in memory.
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A limit that a test puts on one process. */
export interface MemoryLimit {
  /** Words to put before the command line of the process. */
  readonly prefix: readonly string[]
  /** Call when the process has started. */
  watch(pid: number): void
  /** Call when the process has ended. */
  remove(): void
}

/** Time between looks. In between, the process may grow by what it can allocate then. */
const lookMs = 20

let made = 0

/** Makes a limit of so many bytes of memory. */
export function memoryLimit(bytes: number): MemoryLimit {
  const group = memoryGroup(bytes)
  if (group === undefined) return watchedLimit(bytes)
  const enter = `echo $$ > ${join(group, 'cgroup.procs')} && exec "$0" "$@"`
  return {
    prefix: ['bash', '-c', enter],
    watch: () => {},
    remove: () => {
      try {
        rmdirSync(group)
      } catch {
        // Its processes have not been reaped yet. An empty group does no harm.
      }
    },
  }
}

/** MiB that the process has in memory, and the most that it ever had. */
export function residentMb(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1_024
  return { now: of('VmRSS'), most: of('VmHWM') }
}

/** Forgets the most that the process had until now. */
export function forgetMost(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Folder of a new cgroup beside this process; undefined where none can be made. */
function memoryGroup(bytes: number): string | undefined {
  try {
    const own = readFileSync('/proc/self/cgroup', 'utf8')
    const path = /^\d+:memory:(.*)$/m.exec(own)?.[1]
    const root = path === undefined
      ? join('/sys/fs/cgroup', /^0::(.*)$/m.exec(own)?.[1] ?? '')
      : join('/sys/fs/cgroup/memory', path)
    const group = join(root, `heddle-test-${process.pid}-${made += 1}`)
    mkdirSync(group)
    const limit = ['memory.limit_in_bytes', 'memory.max'].map((name) => join(group, name))
      .find((file) => existsSync(file))
    if (limit === undefined) {
      rmdirSync(group)
      return undefined
    }
    writeFileSync(limit, String(bytes))
    return group
  } catch {
    return undefined
  }
}

function watchedLimit(bytes: number): MemoryLimit {
  let timer: NodeJS.Timeout | undefined
  return {
    prefix: [],
    watch: (pid) => {
      timer = setInterval(() => {
        try {
          if (residentMb(pid).now * 1024 * 1024 > bytes) process.kill(pid, 'SIGKILL')
        } catch {
          clearInterval(timer)
        }
      }, lookMs)
    },
    remove: () => clearInterval(timer),
  }
}
