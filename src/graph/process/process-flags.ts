/** Flags, environment and memory of a graph process. Pure. */

import { compileCacheVariable } from '../guards/thread-options.ts'
import type { GraphProcessOptions } from './graph-process.ts'
import { certificatesVariable } from './own-certificates.ts'

/** Variables of the server that a graph process gets as well: none of them is a secret. */
const passedOn = ['TZ', 'LANG', 'LC_ALL', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY',
  certificatesVariable] as const

/** Variables that would change how Node starts, and so what the process may do. */
const ofNode = ['NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE',
  'NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'NODE_CHANNEL_FD']

/**
 * Files by which packages with native code find out which C library there is, as node-gyp-build,
 * detect-libc and the loaders of napi-rs do: these fail where they may not look. None is a secret.
 */
const systemFiles = ['/etc/alpine-release', '/etc/os-release', '/usr/lib/os-release',
  '/etc/debian_version', '/usr/bin/ldd', '/proc/self/exe'] as const

/** MiB of a process beside the graphs of its workers, and beside the youngest objects of each. */
const ownMb = 160
const youngMb = 48
/** MiB. With less, hardly any project can be loaded. */
const leastHeapMb = 96

type EnvironmentOptions = Pick<GraphProcessOptions, 'variables' | 'compileCache' | 'user'>

/** The environment that graphs see: that of the deployment over what the server passes on. */
export function graphsSee({ variables, compileCache, user }: EnvironmentOptions,
  server: NodeJS.ProcessEnv): Record<string, string> {
  return { ...passedFrom(server), ...homeOf(user, compileCache), ...without(variables, ofNode),
    ...cacheIn('NODE_COMPILE_CACHE', compileCache) }
}

/**
 * The environment that the process is started with. Variables of the deployment are not among it,
 * as some of them would change the process itself, and anyone of its user could read them.
 * `certificates` is the path of the certificates that the deployment brings.
 */
export function processSees({ variables, compileCache, user }: EnvironmentOptions,
  server: NodeJS.ProcessEnv, certificates?: string): Record<string, string> {
  return { ...passedFrom(server), ...passedFrom(without(variables, [certificatesVariable])),
    ...certificates !== undefined && { [certificatesVariable]: certificates },
    ...homeOf(user, compileCache), ...cacheIn(compileCacheVariable, compileCache) }
}

/** Limits on a process: the paths that it may read, and its memory. */
export interface ProcessBounds
  extends Pick<GraphProcessOptions, 'folder' | 'allowsAddons' | 'compileCache' | 'memoryMb'> {
  /** The folders and files of Heddle's own code and its packages. */
  readonly ownCode: readonly string[]
  /** Files that each thread loads before any code of the project, in their order. */
  readonly preloads: readonly string[]
  /** True for a process that replays: it loads no native code and writes no files. */
  readonly replays: boolean
  /** True if this version of Node knows a flag. */
  readonly knows: (flag: string) => boolean
}

/** Node's arguments for the process. They are its whole permission: all else is refused. */
export function processFlags(
  { folder, allowsAddons, compileCache, memoryMb, ownCode, preloads, replays, knows }:
    ProcessBounds,
): string[] {
  return [
    ...readOnly([folder, ...ownCode, ...systemFiles,
      ...compileCache === undefined ? [] : [compileCache]]),
    ...compileCache === undefined || replays ? [] : [`--allow-fs-write=${compileCache}`],
    '--allow-worker',
    ...allowsAddons && !replays ? ['--allow-addons'] : [],
    // Later versions of Node refuse the network unless it is allowed.
    ...knows('--allow-net') && !replays ? ['--allow-net'] : [],
    // It opens, changes and makes any file, whatever is permitted.
    ...knows('--experimental-sqlite') ? ['--no-experimental-sqlite'] : [],
    // Node warns of workers, addons and WASI that are allowed.
    '--disable-warning=SecurityWarning',
    `--max-old-space-size=${Math.max(128, Math.floor(memoryMb / 4))}`,
    ...preloads.map((file) => `--require=${file}`),
  ]
}

/** Arguments of a process that reads these folders and nothing else, and starts no other. */
export function readOnly(folders: readonly string[]): string[] {
  return ['--permission', ...folders.map((each) => `--allow-fs-read=${each}`)]
}

/**
 * MiB that the graphs of one worker may fill, so that a worker that has filled its share is ended
 * before the whole process is.
 */
export function heapOfWorker(memoryMb: number, workers: number): number {
  return Math.max(leastHeapMb, Math.floor((memoryMb - ownMb) / workers) - youngMb)
}

function passedFrom(variables: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    passedOn.flatMap((name) => variables[name] === undefined ? [] : [[name, variables[name]]]),
  )
}

/**
 * Without a home, os.homedir() throws for a user that /etc/passwd does not have. Node looks for
 * packages in it, and fails if it may not read there: it is the only folder of that user.
 */
function homeOf(user: number | undefined,
  compileCache: string | undefined): Record<string, string> {
  return user === undefined || compileCache === undefined ? {} : { HOME: compileCache }
}

function cacheIn(variable: string, compileCache: string | undefined): Record<string, string> {
  return compileCache === undefined ? {} : { [variable]: compileCache }
}

function without(variables: Readonly<Record<string, string>>,
  names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !names.includes(name.toUpperCase())),
  )
}
