/** Builds a revision of a project: what is in its folder and in the packages that it needs. */

import { dirname, relative, sep } from 'node:path'

import { areUsual, engineFault, importsOf, readProject } from '../graph/index.ts'
import type { Project, ProjectImports } from '../graph/index.ts'
import { archiveOf } from './archive/archive.ts'
import type { Archive, Chunk, TreeSource } from './archive/archive.ts'
import { ArchiveIndex } from './archive/archive-index.ts'
import type { IndexUse } from './archive/archive-index.ts'
import { hasNativeCode } from './closure/native-packages.ts'
import type { FilledPackage } from './closure/native-packages.ts'
import { ownFiles } from './closure/own-files.ts'
import { packageClosure, packageNameOf } from './closure/package-closure.ts'
import type { InstalledPackage, PackageClosure, PackageLink } from './closure/package-closure.ts'
import { packageFiles } from './closure/package-files.ts'
import { platformName } from './closure/platform.ts'
import type { Platform } from './closure/platform.ts'
import { settingsFiles } from './closure/settings-files.ts'
import { tsconfigPackages } from './closure/tsconfig-packages.ts'
import { packageFolderOf, workspaceOf } from './closure/workspace.ts'
import { withComponents } from './component-tree.ts'
import { sourceOf } from './git-source.ts'
import { readManifest } from './manifest.ts'
import type { Manifest, ManifestArchive } from './manifest.ts'
import { RevisionError } from './revision-error.ts'
import { revisionLimits } from './revision-limits.ts'
import type { RevisionLimits } from './revision-limits.ts'

/** Project to build, and the platform to build it for. */
export interface BuildOptions {
  /** A langgraph.json, or a folder that has one. */
  readonly config: string
  /** Platform that the revision runs on. */
  readonly platform: Platform
  readonly limits?: RevisionLimits
  /** True to leave the login out that a project names; by default false. */
  readonly ignoreAuth?: boolean | undefined
  /**
   * Takes each chunk when it is made. Some come twice. With an index, those of packages that were
   * packed before do not come.
   */
  readonly keep: (chunk: Chunk) => Promise<void>
  /** Remembers packages in the project's node_modules; by default, all are packed each time. */
  readonly index?: IndexUse | undefined
}

/** A revision that was built. */
export interface BuiltRevision {
  readonly manifest: Manifest
  /** Messages of what the project wants and does not get. */
  readonly warnings: readonly string[]
  /** Variables of langgraph.json or of its dotenv file; missing if it was built elsewhere. */
  readonly env?: Project['env']
  /** The project's own files: a text that changes whenever a file does, by path. */
  readonly ownFiles?: ReadonlyMap<string, string>
}

/**
 * Builds a revision. Nothing of the project is run and nothing is installed. Throws RevisionError,
 * and `invalid` for a langgraph.json that is not valid.
 */
export async function buildRevision(options: BuildOptions): Promise<BuiltRevision> {
  const { config, platform, ignoreAuth, limits = revisionLimits } = options
  const project = await readProject(config, { deployed: true, ignoreAuth })
  requireNoEmbedding(project)
  const { root, lockSha256 } = await workspaceOf(project.root)
  const imports = await importsOf(project)
  if (imports.failures.length > 0) {
    throw new RevisionError('no_compile', imports.failures.join('\n'))
  }
  const loaded = [project.configFile, ...imports.files]
  const own = await ownFiles({ root, envFile: project.envFile,
    needed: [...loaded, ...await settingsFiles(root, loaded)], filesMax: limits.files })
  const closure = await closureOf({ project, root, own, imports, platform })
  const engineWarnings = requireEngine(closure)
  const packages = await Promise.all(closure.packages.map(async (each): Promise<FilledPackage> => {
    const isTyped = closure.direct.has(each.folder) || each.path.includes('/@langchain/')
    return { ...each, files: await packageFiles({ root, folder: each.folder, isTyped }) }
  }))
  const isNative = await hasNativeCode(packages, platform)
  const components = await withComponents(project, root, own)
  requireRoom([components.files, ...packages.map(({ files }) => files)], limits)
  const archives = await archivesOf(components.files, packages, closure, { ...options, root })
    .finally(components.remove)
  const manifest: Manifest = { ...manifestOf(project, root), archives, lock_sha256: lockSha256,
    platform: isNative ? platformName(platform) : null, source: await sourceOf(root) }
  return { manifest: readManifest(manifest, limits),
    warnings: [...project.warnings, ...components.warnings, ...engineWarnings], env: project.env,
    ownFiles: new Map(
      own.map((
        each,
      ) => [each.path, each.kind === 'file' ? `${each.bytes} ${each.identity}` : each.target]),
    ) }
}

/**
 * Throws for a project with an embedding, because members call no code of deployments for items.
 */
function requireNoEmbedding({ store: { embedding } }: Project): void {
  if (embedding === undefined) return
  throw new RevisionError('not_offered', 'store.index is not offered for deployments: remove it ' +
    'from langgraph.json, and find items by their namespaces and filters.')
}

interface ClosureParts {
  readonly project: Project
  readonly root: string
  readonly own: readonly TreeSource[]
  readonly imports: ProjectImports
  readonly platform: Platform
}

async function closureOf(
  { project, root, own, imports, platform }: ClosureParts,
): Promise<PackageClosure> {
  const importers = new Set([project.root, ...imports.files.map((file) => dirname(file))])
  const ownFolders = await Promise.all([...importers].map((each) => packageFolderOf(each, root)))
  const imported = imports.named.flatMap(({ importer, specifier, isRequired }) => {
    const name = packageNameOf(specifier)
    return name === undefined
      ? []
      : [{ folder: dirname(importer), name, isOptional: !isRequired || isBrought(name) }]
  })
  const extended = (await tsconfigPackages(own)).map((each) => ({ ...each, isOptional: true }))
  return await packageClosure({ root, ownFolders: [...new Set(ownFolders)],
    imports: [...imported, ...extended], platform })
}

/**
 * True for a package that Heddle brings: the loader finds it from the engine if a project lacks it.
 */
function isBrought(name: string): boolean {
  return name.startsWith('@langchain/')
}

const engine = '@langchain/langgraph'

/**
 * Requires one engine, that of the project's own code, which runs its graphs. Returns a warning for
 * each further one, which a library brings for itself.
 */
function requireEngine({ packages, direct }: PackageClosure): string[] {
  const engines = packages.filter(({ path }) => path.endsWith(`node_modules/${engine}`))
  if (engines.length === 0) {
    throw new RevisionError('no_engine',
      `The project has no ${engine} of its own, and a revision ` +
        `brings the one that it runs on: npm install ${engine}`)
  }
  const own = engines.length === 1 ? engines : engines.filter(({ folder }) => direct.has(folder))
  const placeOf = ({ path, about }: InstalledPackage) => `${about.version ?? 'one'} in ${path}`
  if (own.length !== 1) {
    throw new RevisionError('two_engines', `The project has ${engine} more than once: ` +
      `${engines.map(placeOf).join(', ')}. State does not pass from one to the other: make all ` +
      'its packages need the same version, and install again.')
  }
  const served = own[0]!
  requireServed(served.about.version)
  return engines.filter((each) => each !== served).map((each) =>
    `A library brings an ${engine} of its own: ${placeOf(each)}. The project's graphs run on ` +
    `${placeOf(served)}, and state does not pass from one to the other.`
  )
}

function requireServed(version: string | undefined): void {
  const fault = engineFault(version)
  if (fault !== undefined) throw new RevisionError('old_engine', fault)
}

/** Throws `too_large` before anything is read into memory. */
function requireRoom(trees: readonly (readonly TreeSource[])[],
  { unpackedBytes, files }: RevisionLimits): void {
  const all = trees.flat()
  const bytes = all.reduce((sum, each) => sum + (each.kind === 'file' ? each.bytes : 0), 0)
  if (bytes > unpackedBytes || all.length > files) {
    throw new RevisionError('too_large', `The project has ${all.length} files of ${bytes} bytes ` +
      `with its packages, and the limits are ${files} files and ${unpackedBytes} bytes: name in ` +
      '.heddleignore what its graphs do not need.')
  }
}

async function archivesOf(own: readonly TreeSource[], packages: readonly FilledPackage[],
  { links, workspaceLinks }: PackageClosure,
  { keep, index: use, root }: Pick<BuildOptions, 'keep' | 'index'> & {
    readonly root: string
  }): Promise<ManifestArchive[]> {
  const index = use && await ArchiveIndex.open(root, use)
  // One after another: each is in memory while it is packed.
  const found: ManifestArchive[] = []
  const add = async (kind: ManifestArchive['kind'], path: string, tree: readonly TreeSource[]) => {
    const archive = await archiveOf(tree)
    for (const chunk of archive.chunks) await keep(chunk)
    const packed = describedBy(archive)
    found.push({ kind, path, ...packed })
    return packed
  }
  await add('own', '', [...own, ...workspaceLinks.map(asSource)])
  for (const { path, files } of packages) {
    const before = index?.find(path, files)
    if (before === undefined) {
      const packed = await add('package', path, files)
      index?.note(path, files, packed)
    } else found.push({ kind: 'package', path, ...before })
  }
  if (links.length > 0) await add('links', '', links.map(asSource))
  await index?.save()
  return found
}

function asSource(link: PackageLink): TreeSource {
  return { kind: 'link', ...link }
}

function describedBy({ hash, bytes, files, chunks }: Archive) {
  return { hash, bytes, files,
    chunks: chunks.map(({ sha256, data }) => ({ sha256, bytes: data.length })) }
}

function manifestOf({ root: folder, configFile, graphs, env, envFile, trial, settings }: Project,
  root: string) {
  const path = (file: string) => relative(root, file).replaceAll(sep, '/')
  return {
    version: 1 as const,
    node: Number.parseInt(process.versions.node),
    root: path(folder),
    config: path(configFile),
    graphs: graphs.map(({ graphId, file, exportName }) => ({
      graph_id: graphId,
      path: path(file),
      export: exportName,
    })),
    env: envFile === null ? { ...env } : {},
    wants_env: envFile === null ? [] : Object.keys(env).toSorted(),
    ...!areUsual(settings) && { settings },
    ...trial &&
      {
        check: { graph_id: trial.graphId, input_json: trial.inputJson,
          ...trial.expectJson !== undefined && { expect_json: trial.expectJson } },
      },
  }
}
