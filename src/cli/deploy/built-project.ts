/** Builds a revision in memory, to be uploaded. */

import { resolve } from 'node:path'

import { Option } from 'commander'

import { buildRevision, platformHere, platformOf, RevisionError } from '../../revision/index.ts'
import type { BuildOptions, BuiltRevision, Platform } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ProjectCommandSource } from '../project-command.ts'
import { withCleanInstall } from './clean-install.ts'

/** Options for building a project. */
export interface TypedBuild {
  readonly config?: string
  readonly platform?: string
  readonly clean?: boolean
  readonly ignoreAuth?: boolean
}

/** A revision and the chunks that were packed, by SHA-256. */
export interface BuiltProject extends BuiltRevision {
  readonly chunks: ReadonlyMap<string, Buffer>
}

/**
 * Builds the project. With an index, chunks of packages that were packed before are missing. Throws
 * CommandError and RevisionError.
 */
export async function buildProject({ folder }: ProjectCommandSource,
  { config: typed, platform: named, clean, ignoreAuth }: TypedBuild,
  index?: BuildOptions['index']): Promise<BuiltProject> {
  const platform = platformIn(named)
  const config = resolve(folder, typed ?? '.')
  const chunks = new Map<string, Buffer>()
  const build = (place: string) =>
    buildRevision({ config: place, platform, ignoreAuth, ...!clean && { index },
      keep: async (chunk) => void chunks.set(chunk.sha256, chunk.data) })
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

/** The option of all commands that build a project. */
export function ignoreAuthOption(): Option {
  return new Option('--ignore-auth',
    'Leave the login out that langgraph.json names (auth): what it guards is open.')
}

/** The platform that was typed, or this one. Throws CommandError. */
export function platformIn(typed: string | undefined): Platform {
  const platform = typed === undefined ? platformHere() : platformOf(typed)
  if (platform !== undefined) return platform
  throw new CommandError(`--platform must be like linux-x64-glibc, not "${typed}"; see --help`,
    'misused')
}
