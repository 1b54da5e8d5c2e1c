/** The work of a build: writes the uploaded files, installs their packages and packs all. */

import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { CodedError } from '../../errors.ts'
import { requirePath } from '../tree-path.ts'
import { buildRevision } from '../build.ts'
import { RevisionError } from '../revision-error.ts'
import { inWork } from './build-mail.ts'
import type { BuildMail, BuildTask } from './build-mail.ts'
import { installPackages } from './install.ts'
import { bytesOf, keepInstalled } from './installed-packages.ts'
import { writeProject } from './project-files.ts'

/** Milliseconds between two looks at the bytes on disk. */
const lookMs = 3_000
/** Factor of the bytes on disk to those that are packed, as an installation may need more. */
const diskShare = 3

/** Receiver of a build's lines, and the timer that it uses. */
export interface BuildSurroundings {
  say(text: string): void
  readonly env: Pick<Env, 'every'>
}

/** Builds. Resolves with the end of the build, also if it is refused. */
export function doBuild(task: BuildTask, surroundings: BuildSurroundings): Promise<BuildMail> {
  return built(task, surroundings).catch(refused)
}

async function built(given: BuildTask, { say, env }: BuildSurroundings): Promise<BuildMail> {
  const task = { ...given, work: await realpath(given.work) }
  const { work, limits, source, config, platform, installed, said, ignoreAuth } = task
  const project = join(work, inWork.project)
  const chunks = join(work, inWork.chunks)
  requirePath(posix.normalize(config))
  await mkdir(chunks, { recursive: true })
  await mkdir(join(work, inWork.home))
  await mkdir(join(work, inWork.empty))
  await writeProject(source, join(work, inWork.source), project, limits)
  const full = Promise.withResolvers<never>()
  const stopLooking = env.every(lookMs, () =>
    void bytesOf(work).then((bytes) => {
      if (bytes > limits.unpackedBytes * diskShare) full.reject(tooLarge(bytes))
    }))
  const { key } = await Promise.race([installPackages(task, say), full.promise])
    .finally(stopLooking)
  try {
    const { manifest, warnings } = await buildRevision({ config: join(project, config), platform,
      ignoreAuth, limits, keep: ({ sha256, data }) => writeFile(join(chunks, sha256), data) })
    return { kind: 'done', warnings,
      manifest: { ...manifest, wants_env: [...said.wantsEnv], source: said.source } }
  } finally {
    if (key !== undefined) await keepInstalled(installed, key, project, work)
  }
}

function refused(error: unknown): BuildMail {
  if (error instanceof RevisionError) {
    return { kind: 'refused', code: error.code, message: withoutOutside(error.message) }
  }
  const message = error instanceof CodedError ? error.message : `The build failed: ${String(error)}`
  return { kind: 'refused', code: 'invalid', message: withoutOutside(message) }
}

/**
 * Message of a compiler without lines about files of the server, which the uploader must not read.
 */
function withoutOutside(message: string): string {
  return message.split('\n').map((line) =>
    line.includes('../../') ? 'A file outside of the project is imported.' : line
  ).join('\n')
}

function tooLarge(bytes: number): RevisionError {
  return new RevisionError('too_large', `The packages of the project fill ${bytes} bytes.`)
}
