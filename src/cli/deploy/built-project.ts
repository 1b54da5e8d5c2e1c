/** Builds a revision in memory, to be uploaded. */

import { resolve } from 'node:path'

import { buildRevision, platformHere, platformOf, RevisionError } from '../../revision/index.ts'
import type { BuiltRevision, Platform } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ProjectCommandSource } from '../project-command.ts'
import { withCleanInstall } from './clean-install.ts'

/** How a project is built. */
export interface TypedBuild {
  readonly config?: string
  readonly platform?: string
  readonly clean?: boolean
}

/** A revision and its chunks by SHA-256. */
export interface BuiltProject extends BuiltRevision {
  readonly chunks: ReadonlyMap<string, Buffer>
}

/** Builds the project. Throws CommandError and RevisionError. */
export async function buildProject({ folder }: ProjectCommandSource,
  { config: typed, platform: named, clean }: TypedBuild): Promise<BuiltProject> {
  const platform = platformIn(named)
  const config = resolve(folder, typed ?? '.')
  const chunks = new Map<string, Buffer>()
  const build = (place: string) =>
    buildRevision({ config: place, platform, keep: async ({ sha256, data }) =>
      void chunks.set(sha256, data) })
  const built = clean
    ? await withCleanInstall({ config, platform, build })
    : await build(config).catch(sayClean)
  return { ...built, chunks }
}

function sayClean(error: unknown): never {
  if (!(error instanceof RevisionError) || error.code !== 'other_platform') throw error
  throw new RevisionError(error.code, `${error.message} Or add --clean, which installs for that ` +
    'platform.', { cause: error })
}

/** The platform that was typed, or this one. Throws CommandError. */
export function platformIn(typed: string | undefined): Platform {
  const platform = typed === undefined ? platformHere() : platformOf(typed)
  if (platform !== undefined) return platform
  throw new CommandError(`--platform must be like linux-x64-glibc, not "${typed}"; see --help`,
    'misused')
}
