/** Builds uploaded files in a process of its own, which has no secrets and ends in time. */

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import { memberOf } from '../../json/index.ts'
import type { BuiltRevision } from '../build.ts'
import { RevisionError } from '../revision-error.ts'
import { revisionLimits } from '../revision-limits.ts'
import type { RevisionLimits } from '../revision-limits.ts'
import { writingTo } from '../written-path.ts'
import { buildEnvironment } from './build-environment.ts'
import { inWork } from './build-mail.ts'
import type { BuildMail, BuildTask } from './build-mail.ts'
import { withoutFolders } from './without-folders.ts'

/** Project to build, and the places and receivers of the build. */
export interface RemoteBuildOptions
  extends
    Pick<BuildTask,
      'source' | 'config' | 'said' | 'platform' | 'scope' | 'ignoreAuth' | 'allowed'> {
  /** Folder for builds and for packages of builds alone. */
  readonly directory: string
  /** Writes the upload: a file, or the chunks of an archive into the folder of this name. */
  fetch(to: string): Promise<void>
  /** Called with each line that the build prints. */
  say(text: string): void
  readonly limits?: RevisionLimits
  readonly limitMs?: number
  readonly env: Pick<Env, 'after'>
  /** The environment of the server, of which a few variables are passed on. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** A revision that was built, whose chunks are there until its user has ended. */
export interface RemotelyBuilt extends BuiltRevision {
  chunk(sha256: string): Promise<Buffer>
}

/** Milliseconds that a build may take. */
export const buildLimitMs = 600_000

const heapMb = 1_024
/** Prefix of the folder of a build, before the id of its process. */
const workName = 'work-'
const lineCharacters = 2_000

/**
 * Builds, and hands the result to `use`. Afterwards only packages for the next build are left.
 * Throws RevisionError, and the reason of the signal.
 */
export async function buildRemotely<Result>(options: RemoteBuildOptions,
  use: (built: RemotelyBuilt) => Promise<Result>): Promise<Result> {
  const { directory, signal, fetch } = options
  const work = await writingTo(directory, async () => {
    await mkdir(directory, { recursive: true })
    return await mkdtemp(join(directory, `${workName}${process.pid}-`))
  }, 'the folder of builds')
  try {
    await fetch(join(work, inWork.source))
    signal.throwIfAborted()
    const built = await runBuild(options, work)
    return await use({ ...built, chunk: (sha256) => readFile(join(work, inWork.chunks, sha256)) })
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Removes the folders of processes that have ended. Call before this process builds. */
export async function clearBuilds(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const [, pid] = /^work-(\d{1,10})-/.exec(name) ?? []
    if (pid === undefined || isOther(Number(pid))) continue
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** True for another process that is there. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return memberOf(error, 'code') === 'EPERM'
  }
}

async function runBuild(
  { source, config, said, platform, scope, ignoreAuth, allowed, directory, say, env, variables,
    limits = revisionLimits, limitMs = buildLimitMs, signal }: RemoteBuildOptions,
  work: string,
): Promise<BuiltRevision> {
  const real = await realpath(work)
  const child = fork(fileURLToPath(new URL('./build-process.ts', import.meta.url)), [], {
    // A group of its own, so that all programs that it begins end with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: buildEnvironment(variables, join(work, inWork.home)),
  })
  const ended = Promise.withResolvers<Exclude<BuildMail, { readonly kind: 'line' }>>()
  const abort = () => ended.reject(signal.reason)
  signal.addEventListener('abort', abort)
  const stopTimer = env.after(limitMs, () =>
    ended.reject(
      new RevisionError('no_install', `The build took longer than ${limitMs / 1_000} ` +
        'seconds, and was ended.'),
    ))
  child.on('message', (mail: BuildMail) => {
    if (mail.kind === 'line') say(withoutFolders(mail.text.slice(0, lineCharacters), real))
    else ended.resolve(mail)
  })
  child.once('error', ended.reject)
  child.once('exit', (code, end) =>
    ended.reject(
      new RevisionError('no_install', `The build ended early (${code ?? end}): it may ` +
        'need more memory than a build may have.'),
    ))
  const task: BuildTask = { source, config, said, platform, scope, ignoreAuth, limits, work: real,
    ...allowed && { allowed }, installed: join(directory, 'installed') }
  child.send(task)
  try {
    const mail = await ended.promise
    if (mail.kind === 'done') return { manifest: mail.manifest, warnings: mail.warnings }
    throw new RevisionError(mail.code === 'invalid' ? 'no_install' : mail.code,
      withoutFolders(mail.message, real))
  } finally {
    stopTimer()
    signal.removeEventListener('abort', abort)
    await endGroup(child)
  }
}

/** Resolves when no program of the build writes any more. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const closed = child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
  await closed
}
