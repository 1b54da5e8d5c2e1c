/** Packs the files of a project that is to be built elsewhere. */

import { relative, sep } from 'node:path'

import { importsOf, readProject } from '../../graph/index.ts'
import { archiveOf } from '../archive/archive.ts'
import type { Chunk } from '../archive/archive.ts'
import { ownFiles } from '../closure/own-files.ts'
import { settingsFiles } from '../closure/settings-files.ts'
import { lockFiles, workspaceOf } from '../closure/workspace.ts'
import { sourceOf } from '../git-source.ts'
import type { Manifest, ManifestArchive } from '../manifest.ts'
import { RevisionError } from '../revision-error.ts'
import { revisionLimits } from '../revision-limits.ts'

/** A project's own files, with details that only this machine knows. */
export interface PackedSources {
  readonly archive: ManifestArchive
  readonly chunks: readonly Chunk[]
  /** The langgraph.json, from the root of the files. */
  readonly config: string
  readonly wantsEnv: readonly string[]
  readonly source: Manifest['source']
}

/** Packs the own files, without any package. Throws RevisionError. */
export async function packSources(config: string,
  { ignoreAuth }: { readonly ignoreAuth?: boolean | undefined } = {}): Promise<PackedSources> {
  const project = await readProject(config, { ignoreAuth })
  const { root } = await workspaceOf(project.root)
  const imports = await importsOf(project)
  if (imports.failures.length > 0) {
    throw new RevisionError('no_compile', imports.failures.join('\n'))
  }
  const loaded = [project.configFile, ...imports.files]
  // The server installs by them, also if they are ignored here.
  const settings = await settingsFiles(root, loaded, [...lockFiles, 'pnpm-workspace.yaml'])
  const { chunks, ...archive } = await archiveOf(
    await ownFiles({ root, envFile: project.envFile, needed: [...loaded, ...settings],
      filesMax: revisionLimits.files }),
  )
  return {
    archive: { kind: 'own', path: '', ...archive,
      chunks: chunks.map(({ sha256, data }) => ({ sha256, bytes: data.length })) },
    chunks,
    config: relative(root, project.configFile).replaceAll(sep, '/'),
    wantsEnv: project.envFile === null ? [] : Object.keys(project.env).toSorted(),
    source: await sourceOf(root),
  }
}
