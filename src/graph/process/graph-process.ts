/** A graph host in a process of its own: what deployments run in. */

import type { Env } from '../../../cluster/index.ts'
import type { WrittenLines } from '../logs/run-line.ts'
import type { LoggedRun, RunLogs } from '../logs/run-logs.ts'
import type { RunningGraphHost } from '../pool/host.ts'
import type { TakePrinted } from '../pool/printed-lines.ts'
import type { Suspects } from './loss.ts'
import type { NetworkWall } from './network-wall.ts'

/** A project on disk, and what its process may do. */
export interface GraphProcessOptions {
  /** Its langgraph.json. */
  readonly configFile: string
  /** The folder that it may read: the packages and the own files lie in it. */
  readonly folder: string
  /** Its whole environment, besides a few names that Node needs. */
  readonly variables: Readonly<Record<string, string>>
  /** Names of those that are secrets of its deployment. */
  readonly secretNames?: readonly string[]
  /** The share of runs that is recorded; missing for what its langgraph.json says. */
  readonly record?: string | undefined
  readonly workers: number
  /** MiB of memory, all of the process: above them it is replaced. */
  readonly memoryMb: number
  /** True if its packages have native code. */
  readonly allowsAddons: boolean
  /** Folder that keeps compiled code between starts; the process may write there. */
  readonly compileCache?: string
  /** The user, and the group of the same id, that it runs as; by default those of this process. */
  readonly user?: number | undefined
  readonly tracedRatio?: number | undefined
  /** True if the login that its project names is left out; by default false. */
  readonly ignoreAuth?: boolean | undefined
  /** True for a process that replays recorded runs: it has no network, and writes nothing. */
  readonly replays?: boolean | undefined
  /** The namespace that its processes start in; missing for the network of this process. */
  readonly networkWall?: NetworkWall | undefined
  readonly env: Env
  /** Time that a login may take to answer, in milliseconds; by default 10 000. */
  readonly appTimeoutMs?: number | undefined
  /** Time that loading may take, in milliseconds. Default: 60 000. */
  readonly startMs?: number | undefined
  /** Takes a line that the process wrote outside of runs. */
  readonly printed?: TakePrinted
  /** Takes lines that a run wrote, which `logs` has as well. */
  readonly wrote?: (run: LoggedRun, lines: WrittenLines) => void
  /** Store for the lines of runs; by default they are gone with this process. */
  readonly runLogs?: Pick<RunLogs, 'add' | 'read'>
  /**
   * The runs that earlier processes of the deployment died with. Each gets a process of its own.
   * Without it, a run that fills the memory of its process alone ends with an error.
   */
  readonly suspects?: Suspects
  /** Called once when the process has ended by itself. Its executions were `lost` before. */
  readonly died?: (reason: string) => void
}

/** A graph host whose graphs are in another process. It serves one project until it is closed. */
export interface GraphProcess
  extends Omit<RunningGraphHost, 'reload' | 'embed' | 'useApp' | 'handOver'> {
  readonly pid: number
  /** Bytes of the process at the last look. */
  memoryBytes(): number
}
